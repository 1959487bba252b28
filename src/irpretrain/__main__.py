import sys

from irpretrain.command import main

sys.exit(main())
