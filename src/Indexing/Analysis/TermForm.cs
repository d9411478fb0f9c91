using System.Security.Cryptography;

namespace Treepie.Indexing.Analysis;

/// <summary>
/// The stored form of terms. A term of up to 512 bytes is stored as it is. A longer one is cut to 513 bytes:
/// <code>
/// OFFSET  SIZE  MEANING
/// 0       384   its first bytes
/// 384     1     0xFF, which does not occur in UTF-8
/// 385     32    SHA-256 of the whole term
/// 417     96    its last bytes
/// </code>
/// So equality stays exact, prefixes of up to 384 and suffixes of up to 96 bytes can still be compared, and order is exact among
/// terms that differ in their first 384 bytes. If more of a whole value is needed, its full text is looked up by the hash: see
/// the tree <c>longtexts.N</c> of the index.
/// </summary>
internal static class TermForm
{
    public const int MaxWholeBytes = 512;
    public const int HeadBytes = 384;
    public const int TailBytes = 96;
    public const int CutBytes = HeadBytes + 1 + SHA256.HashSizeInBytes + TailBytes;
    private const byte Mark = 0xFF;

    /// <summary>
    /// The stored form of a value that has no text, such as an object. It differs from every text, because this byte does
    /// not occur in UTF-8, and sorts after all texts. Searches for texts, by pattern, range or similarity, skip it.
    /// </summary>
    public static ReadOnlySpan<byte> NoText => [Mark];

    /// <summary>The least key above all texts with a prefix: the last byte of UTF-8 is below the byte that no text has.</summary>
    public static byte[] AfterPrefix(ReadOnlySpan<byte> prefix)
    {
        if (prefix.IsEmpty)
            return NoText.ToArray();
        byte[] after = prefix.ToArray();
        after[^1]++;
        return after;
    }

    /// <summary>Whether a stored form is <see cref="NoText"/>.</summary>
    public static bool IsNoText(ReadOnlySpan<byte> form) => form.Length == 1 && form[0] == Mark;

    /// <summary>
    /// The stored form of a term: the term itself, or the cut form in <paramref name="scratch"/> (at least 513 bytes).
    /// </summary>
    public static ReadOnlySpan<byte> Of(ReadOnlySpan<byte> term, Span<byte> scratch)
    {
        if (term.Length <= MaxWholeBytes)
            return term;

        term[..HeadBytes].CopyTo(scratch);
        scratch[HeadBytes] = Mark;
        SHA256.HashData(term, scratch[(HeadBytes + 1)..]);
        term[^TailBytes..].CopyTo(scratch[(CutBytes - TailBytes)..]);
        return scratch[..CutBytes];
    }

    /// <summary>Whether a stored form is that of a longer term.</summary>
    public static bool IsCut(ReadOnlySpan<byte> form) => form.Length == CutBytes;

    /// <summary>The SHA-256 of the whole term, from its cut form.</summary>
    public static ReadOnlySpan<byte> HashOf(ReadOnlySpan<byte> form) => form.Slice(HeadBytes + 1, SHA256.HashSizeInBytes);

    /// <summary>Whether the term of a stored form ends with the bytes, as far as the form shows.</summary>
    public static bool EndsWith(ReadOnlySpan<byte> form, ReadOnlySpan<byte> suffix) =>
        IsCut(form) ? form[^TailBytes..].EndsWith(suffix) : form.EndsWith(suffix);

    /// <summary>Whether the term of a stored form contains the bytes, as far as the form shows.</summary>
    public static bool Contains(ReadOnlySpan<byte> form, ReadOnlySpan<byte> infix) => IsCut(form)
        ? form[..HeadBytes].IndexOf(infix) >= 0 || form[^TailBytes..].IndexOf(infix) >= 0
        : form.IndexOf(infix) >= 0;
}
