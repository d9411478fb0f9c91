using System.Buffers;
using System.Diagnostics;
using System.Text;
using System.Text.Unicode;

namespace Treepie.Store;

/// <summary>
/// The rules of document ids. An id consists of 1 to 512 bytes of UTF-8 without control characters. Ids are equal if their folded
/// forms are: every character in its simple lower case. Lower, because Unicode has given old characters new upper cases but
/// hardly ever a new lower case, so that what was found once is found in future versions too.
/// </summary>
internal static class DocumentId
{
    /// <summary>The maximum length of an id in UTF-8 bytes: the limit of the format.</summary>
    public const int MaxBytes = 512;

    /// <summary>The maximum length of a folded id: a few letters of two bytes have a lower case of three.</summary>
    public const int MaxFoldedBytes = MaxBytes / 2 * 3;

    /// <summary>Folds an id and returns its length; <paramref name="destination"/> must be half as long again.</summary>
    public static int Fold(ReadOnlySpan<byte> id, Span<byte> destination)
    {
        OperationStatus status = Ascii.ToLower(id, destination, out int length);
        return status == OperationStatus.Done ? length : FoldUnicode(id, destination);
    }

    /// <summary>Folds an id of UTF-16 characters; returns false if it is not valid.</summary>
    public static bool TryFold(ReadOnlySpan<char> id, Span<byte> destination, out int length)
    {
        Span<byte> utf8 = stackalloc byte[MaxBytes];
        length = 0;
        if (id.Length > MaxBytes
            || Utf8.FromUtf16(id, utf8, out _, out int written, replaceInvalidSequences: false) != OperationStatus.Done)
            return false;
        length = Fold(utf8[..written], destination);
        return true;
    }

    /// <summary>Folds an id of UTF-8; returns false if it is not valid.</summary>
    public static bool TryFold(ReadOnlySpan<byte> id, Span<byte> destination, out int length)
    {
        length = 0;
        if (id.Length > MaxBytes || !Utf8.IsValid(id))
            return false;
        length = Fold(id, destination);
        return true;
    }

    /// <summary>Returns the id in UTF-8 after validating it.</summary>
    /// <exception cref="InvalidDocumentException">The id is empty, too long, or contains invalid characters.</exception>
    public static byte[] Encode(string id, int maxBytes)
    {
        Span<byte> utf8 = stackalloc byte[MaxBytes];
        return utf8[..Encode(id, maxBytes, utf8)].ToArray();
    }

    /// <summary>
    /// Same as <see cref="Encode(string, int)"/>, to a buffer of <see cref="MaxBytes"/>; returns the length.
    /// </summary>
    public static int Encode(string id, int maxBytes, Span<byte> destination)
    {
        if (id.Length == 0)
            throw new InvalidDocumentException(
                "The document id is empty. Give an id, or one that ends in '/' to have it completed.");
        if (id.Length > maxBytes || Encoding.UTF8.GetByteCount(id) > maxBytes)
        {
            throw new InvalidDocumentException(
                $"The document id '{id.AsSpan(0, Math.Min(id.Length, 40))}…' has {Encoding.UTF8.GetByteCount(id)} bytes in "
                    + $"UTF-8, the limit is {maxBytes} (MaxIdBytes). Shorten it.");
        }

        foreach (char unit in id)
            if (char.IsControl(unit))
                throw new InvalidDocumentException(
                    $"The document id '{Printable(id)}' holds the control character U+{(int)unit:X4}. Remove it.");

        if (Utf8.FromUtf16(id, destination, out _, out int length, replaceInvalidSequences: false) != OperationStatus.Done)
            throw new InvalidDocumentException(
                $"The document id '{Printable(id)}' holds half of a surrogate pair, which is no character. Remove it.");
        return length;
    }

    private static string Printable(string id) => string.Create(id.Length, id, static (output, given) =>
    {
        for (int index = 0; index < output.Length; index++)
            output[index] = char.IsControl(given[index]) || char.IsSurrogate(given[index]) ? '�' : given[index];
    });

    private static int FoldUnicode(ReadOnlySpan<byte> id, Span<byte> destination)
    {
        int length = 0;
        while (!id.IsEmpty)
        {
            OperationStatus status = Rune.DecodeFromUtf8(id, out Rune rune, out int consumed);
            Debug.Assert(status == OperationStatus.Done, "ids are checked before they are folded");
            // U+0130 has a lower case in some tables of the platform and none in others.
            Rune lower = rune.Value == 0x130 ? rune : Rune.ToLowerInvariant(rune);
            length += lower.EncodeToUtf8(destination[length..]);
            id = id[consumed..];
        }

        return length;
    }
}
