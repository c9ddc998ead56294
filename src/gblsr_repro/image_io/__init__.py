"""Read and write a user's own photographs, one file or a folder of them.

`reading` reads an image file into colors, opacity and tags, `writing` writes them; `formats` lists
the formats that are written and their limits; `window` says what to draw and at which size;
`folders` names outputs and converts many files.
"""

from .photo import Box as Box
from .photo import Photo as Photo
from .photo import Tags as Tags
from .reading import read as read
from .writing import write as write
