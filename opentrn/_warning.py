"""The one warning category of this package."""


class OpenTrnWarning(UserWarning):
    """Something about the device needs the user's attention: it is unavailable, or work left it."""
