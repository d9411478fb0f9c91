using System.Text;

namespace Treepie.Store;

/// <summary>The rules of names of related data, the same for all kinds.</summary>
internal static class KindNames
{
    /// <summary>The maximum length of a name in UTF-8 bytes, so that owner, name and separator fit into a key.</summary>
    public const int MaxBytes = 512;

    /// <summary>Returns the name in UTF-8 after validating it.</summary>
    /// <exception cref="InvalidDocumentException">The name is empty, too long or not valid text.</exception>
    public static byte[] Encode(string what, string? name, int maxBytes = MaxBytes)
    {
        if (string.IsNullOrWhiteSpace(name))
            throw new InvalidDocumentException($"The name of {what} is empty. Nothing was changed. Give a name.");
        byte[] utf8;
        try
        {
            utf8 = _strict.GetBytes(name);
        }
        catch (EncoderFallbackException error)
        {
            throw new InvalidDocumentException(
                $"The name of {what} holds half of a surrogate pair, which is no character. Nothing was changed. Remove it.",
                error);
        }

        return utf8.Length <= maxBytes
            ? utf8
            : throw new InvalidDocumentException(
                $"The name '{name.AsSpan(0, Math.Min(name.Length, 40))}…' of {what} has {utf8.Length:N0} bytes in UTF-8, the "
                    + $"limit is {maxBytes}. Nothing was changed. Shorten it.");
    }

    /// <summary>Returns the content type of an attachment in UTF-8.</summary>
    /// <exception cref="InvalidDocumentException">The content type is too long.</exception>
    public static byte[] EncodeType(string attachment, string contentType)
    {
        byte[] utf8 = Encoding.UTF8.GetBytes(contentType);
        return utf8.Length <= MaxBytes
            ? utf8
            : throw new InvalidDocumentException(
                $"The content type of the attachment '{attachment}' has {utf8.Length:N0} bytes in UTF-8, the limit is "
                    + $"{MaxBytes}. Nothing was changed. Shorten it.");
    }

    private static readonly UTF8Encoding _strict = new(false, throwOnInvalidBytes: true);
}
