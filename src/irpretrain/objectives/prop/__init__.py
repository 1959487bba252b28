"""PROP (Ma et al., WSDM 2021): its objective and the sampler of word sets."""
