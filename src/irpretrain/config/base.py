"""What all sections share: unknown keys are refused, values cannot be changed after loading."""

import re
import reprlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Annotated, Any, Self, TypeVar, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    ValidationError,
    WrapValidator,
    model_validator,
)
from pydantic_core import CoreSchema
from pydantic_core.core_schema import no_info_before_validator_function

from irpretrain.foundation.errors import ConfigError, cli_or_api, did_you_mean, instead_of

# Keys of pydantic's schemas that hold further schemas.
INNER_SCHEMAS = {"schema", "items_schema", "values_schema", "fields", "choices", "definitions"}


def _with_strict_numbers(schema: Any) -> Any:
    """Return a schema whose numbers are no truth values, which pydantic takes for 0 and 1, in lists and unions too."""
    if isinstance(schema, list):
        return [_with_strict_numbers(item) for item in schema]
    if isinstance(schema, tuple):  # a choice with its label
        return (_with_strict_numbers(schema[0]), *schema[1:])
    if schema.get("function", {}).get("function") is _refuse_truth_value:  # of a section within this one
        return schema
    inner = {
        key: _with_strict_numbers(value)
        if isinstance(value, list | tuple) or "type" in value
        else {name: _with_strict_numbers(item) for name, item in value.items()}
        for key, value in schema.items()
        if key in INNER_SCHEMAS
    }
    schema = {**schema, **inner}
    is_number = schema["type"] in ("int", "float")
    return no_info_before_validator_function(_refuse_truth_value, schema) if is_number else schema


def _refuse_truth_value(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError(f"a number is needed, not {str(value).lower()}")
    return value


class Section(BaseModel):
    """Base of every section of the configuration."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, validate_default=True, protected_namespaces=(), allow_inf_nan=False
    )

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema: CoreSchema = _with_strict_numbers(handler(source))
        return schema

    @model_validator(mode="before")
    @classmethod
    def _complete_parts(cls, values: Any) -> Any:
        """Lay the keys of a part over the values that this section gives it: `axioms: {bm25: {k1: 2}}` keeps its b."""
        if not isinstance(values, dict):
            return values
        parts = {
            key: part | values[key] for key, part in _parts(cls).items() if isinstance(values.get(key), dict)
        }
        return {**values, **parts}

    @model_validator(mode="after")
    def _refuse_faults(self) -> Self:
        if fault := next(self.faults(), None):
            raise ValueError(fault)
        return self

    def faults(self) -> Iterator[str]:
        """Yield what is wrong between keys whose values are sound by themselves; the first fault is reported."""
        yield from ()


@cache
def _parts(section: type[Section]) -> dict[str, dict[str, Any]]:
    """Return the values of each part that it has in this section and not by itself; without parts that have none."""
    parts = {key: field.default for key, field in section.model_fields.items()}
    return {
        key: {name: getattr(part, name) for name in names}
        for key, part in parts.items()
        if isinstance(part, Section) and (names := changed_keys(part, ()))
    }


def option(
    default: Any = ..., description: str = "", *, unit: str = "", decides: bool = True, **field_options: Any
) -> Any:
    """Return a key of a section: pydantic's `Field`, with its meaning and the unit of its value.

    The default `...` makes the key required; `field_options` are limits of the value and further arguments of `Field`.
    A key that `decides` nothing changes no result, such as speed, verbosity or labels.
    """
    extra: Any = {"unit": unit} if unit else {}
    if not decides:
        extra["decides"] = False
    return Field(default, description=description, json_schema_extra=extra or None, **field_options)


def _check_listed_once(values: list[Any]) -> list[Any]:
    if repeated := [value for value, count in Counter(values).items() if count > 1]:
        raise ValueError(f"{repeated[0]} is listed twice; list each once")
    return values


def needing(kinds: str) -> WrapValidator:
    """Return, for the type of a key that takes several kinds of values, what names them where a value is none of them.

    pydantic lists a fault for each kind, under names such as `constrained-str`.
    """

    def check(value: Any, validate: Callable[[Any], Any]) -> Any:
        try:
            return validate(value)
        except ValidationError as error:
            # The last kind is a list where a list is one of them: what in it is at fault, rather than all of it.
            fault = error.errors()[-1]
            message = f"{kinds} is needed; given was {VALUE_REPR.repr(fault['input'])}"
            if fault["type"] == "value_error":
                message += f": {fault['msg'].removeprefix('Value error, ')}"
            raise ValueError(message) from None

    return WrapValidator(check)


# For the type of a list that has each value once.
LISTED_ONCE = AfterValidator(_check_listed_once)
Names = Annotated[list[str], LISTED_ONCE]
Seed = Annotated[int, Field(ge=0)]
Seeds = Annotated[list[Seed], Field(min_length=1), LISTED_ONCE]


def deciding(section: BaseModel, values: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the values of a section (or a part, `values`) without the keys that decide nothing, at any depth."""
    values = section.model_dump() if values is None else values
    deciding_values: dict[str, Any] = {}
    for key, value in values.items():
        extra = type(section).model_fields[key].json_schema_extra
        if not isinstance(extra, dict) or extra.get("decides", True):
            inner = getattr(section, key)
            deciding_values[key] = deciding(inner, value) if isinstance(inner, BaseModel) else value
    return deciding_values


def changed_keys(section: Section, ignored_keys: tuple[str, ...]) -> list[str]:
    """Return the keys of a section, but for `ignored_keys`, that have another value than their default."""
    fields = ((key, field) for key, field in type(section).model_fields.items() if key not in ignored_keys)
    return [key for key, field in fields if getattr(section, key) != field.default]


def leaves(values: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield what is no mapping, with its path: `masking.unit`."""
    for key, value in values.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def deep_merge(base: dict[str, Any], overriding: dict[str, Any]) -> dict[str, Any]:
    """Return `base` with `overriding` laid over it: mappings are merged, anything else is replaced."""
    result = dict(base)
    for key, value in overriding.items():
        base_value = result.get(key)
        result[key] = (
            deep_merge(base_value, value)
            if isinstance(base_value, dict) and isinstance(value, dict)
            else value
        )
    return result


# The faults that pydantic finds in a section, in the words of the configuration.


Model = TypeVar("Model", bound=BaseModel)

# How a refused value is shown: with YAML's aliases a few lines can make one that has billions of parts.
VALUE_REPR = reprlib.Repr()
VALUE_REPR.maxlevel, VALUE_REPR.maxstring, VALUE_REPR.maxother, VALUE_REPR.maxlong = 3, 200, 200, 60
VALUE_REPR.maxlist = VALUE_REPR.maxtuple = VALUE_REPR.maxset = VALUE_REPR.maxdict = 8


def explain(model: type[Model], values: dict[str, Any], source: str, top: bool = False) -> Model:
    """Validate, and turn pydantic's errors into one ConfigError that names each key and how to mend it."""
    try:
        return model.model_validate(values)
    except UnicodeEncodeError as error:
        raise ConfigError(
            f"{source}: {error.object!a} contains half of a character; write the whole character"
        ) from None
    except ValidationError as error:
        if top:
            raise config_error(model, error, source) from None
        raise ValueError(f"{source}: " + "; ".join(_faults(model, error))) from None


def config_error(model: type[BaseModel], error: ValidationError, source: str) -> ConfigError:
    """Return pydantic's errors of a model as one ConfigError."""
    return listing_error(source, _faults(model, error))


def listing_error(source: str, faults: Sequence[str]) -> ConfigError:
    subject = cli_or_api("the configuration", "the options")
    heading = f"{source}: {len(faults)} fault{'s' if len(faults) > 1 else ''} in {subject}"
    lines = (f"  - {fault}" for fault in faults)
    return ConfigError("\n".join([heading, *lines, "  docs/reference/config lists every key."]))


def _faults(model: type[BaseModel], error: ValidationError) -> list[str]:
    """Return a text for each fault; a line of a message that is indented goes on with the fault before it."""
    return [text for fault in error.errors() for text in re.split(r"\n(?! )", _fault(model, fault))]


def listed_faults(error: ValidationError) -> str:
    """Return pydantic's own words on what is wrong, each fault with its key."""
    return "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors())


def _fault(model: type[BaseModel], fault: Any) -> str:
    key_path = ".".join(str(step) for step in fault["loc"])
    fault_type, value = fault["type"], fault.get("input")
    if fault_type == "extra_forbidden":
        keys = _keys_at(model, fault["loc"][:-1])
        return f"{key_path}: unknown key; {instead_of(str(fault['loc'][-1]), keys, 'known are')}"
    if fault_type == "missing":
        return f"{key_path}: is missing"
    message = fault["msg"].removeprefix("Value error, ").removeprefix("Input ")
    if fault_type == "value_error":
        return f"{key_path}: {message}" if key_path else message
    suggestion = ""
    if fault_type == "literal_error" and isinstance(value, str):
        suggestion = did_you_mean(value, re.findall(r"'([^']*)'", fault["ctx"]["expected"]))
    return "; ".join(
        filter(None, [f"{key_path}: {message}", f"given was {VALUE_REPR.repr(value)}", suggestion])
    )


def _keys_at(model: Any, location: tuple[Any, ...]) -> list[str]:
    for step in location:
        fields = getattr(model, "model_fields", {})
        annotation = fields[step].annotation if step in fields else model
        candidates = [annotation, *get_args(annotation)]
        sections = [c for c in candidates if isinstance(c, type) and issubclass(c, BaseModel)]
        model = sections[0] if sections else model
    return list(getattr(model, "model_fields", {}))
