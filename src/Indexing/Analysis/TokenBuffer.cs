using System.Text;

namespace Treepie.Indexing.Analysis;

/// <summary>Buffer for the bytes of a term being built. Grows to the longest term and is reused.</summary>
internal sealed class TokenBuffer
{
    private const int FirstBytes = 64;

    private byte[] _bytes = new byte[FirstBytes];

    public int Length { get; private set; }

    public ReadOnlySpan<byte> Written => _bytes.AsSpan(0, Length);

    public void Clear() => Length = 0;

    /// <summary>Returns space for a number of further bytes; <see cref="Advance"/> tells how many were used.</summary>
    public Span<byte> Room(int lengthBytes)
    {
        if (_bytes.Length - Length < lengthBytes)
            Array.Resize(ref _bytes, Math.Max(checked(Length + lengthBytes), (int)Math.Min(Array.MaxLength, _bytes.Length * 2L)));
        return _bytes.AsSpan(Length);
    }

    public void Advance(int lengthBytes) => Length += lengthBytes;

    public void Append(Rune rune) => Advance(rune.EncodeToUtf8(Room(4)));

    /// <summary>Appends a character in full case folding.</summary>
    public void AppendFolded(Rune rune)
    {
        ReadOnlySpan<char> expansion = FoldingExpansions.Of(rune);
        if (expansion.IsEmpty)
            Append(CaseFolding.Fold(rune));
        else
            Advance(Encoding.UTF8.GetBytes(expansion, Room(expansion.Length * 3)));
    }

    /// <summary>Appends a text in full case folding.</summary>
    public void AppendFolded(ReadOnlySpan<byte> utf8)
    {
        while (!utf8.IsEmpty)
        {
            int ascii = utf8.IndexOfAnyExceptInRange((byte)0, (byte)127);
            if (ascii < 0)
                ascii = utf8.Length;
            Ascii.ToLower(utf8[..ascii], Room(ascii), out int written);
            Advance(written);
            utf8 = utf8[ascii..];
            if (utf8.IsEmpty)
                return;

            // An invalid byte becomes U+FFFD, as when decoding it.
            Rune.DecodeFromUtf8(utf8, out Rune rune, out int consumed);
            AppendFolded(rune);
            utf8 = utf8[consumed..];
        }
    }

    /// <summary>
    /// Clears the buffer and releases its memory if it is larger than <paramref name="mostBytes"/>, which few values need.
    /// </summary>
    public void Trim(int mostBytes)
    {
        if (_bytes.Length > mostBytes)
            _bytes = new byte[FirstBytes];
        Length = 0;
    }
}
