namespace Treepie.Computations;

/// <summary>Limits formats of numbers and times that users write, so that they cannot create huge strings.</summary>
internal static class ValueFormat
{
    /// <summary>The maximum length of a format in characters.</summary>
    public const int MaxLength = 64;

    /// <summary>The maximum number of digits of a precision or width: 99.</summary>
    private const int MostDigits = 2;

    /// <summary>Whether a format is short, and no number in it asks for more than 99 digits or characters.</summary>
    public static bool IsBounded(ReadOnlySpan<char> format) => format.Length <= MaxLength && HasSmallNumbers(format);

    /// <summary>Whether no number in a text has more than two digits.</summary>
    public static bool HasSmallNumbers(ReadOnlySpan<char> text)
    {
        int digits = 0;
        foreach (char one in text)
        {
            // Leading zeros are digit placeholders, not a precision.
            digits = char.IsAsciiDigit(one) && (one != '0' || digits > 0) ? digits + 1 : 0;
            if (digits > MostDigits)
                return false;
        }

        return true;
    }
}
