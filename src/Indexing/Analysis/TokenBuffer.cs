using System.Text;

namespace Treepie.Indexing.Analysis;

/// <summary>The bytes of the term being made; grows to the longest and is reused.</summary>
internal sealed class TokenBuffer
{
    private byte[] bytes = new byte[256];

    public int Length { get; private set; }

    public ReadOnlySpan<byte> Written => bytes.AsSpan(0, Length);

    public void Clear() => Length = 0;

    /// <summary>Room for so many more bytes; <see cref="Advance"/> tells how many were used.</summary>
    public Span<byte> Room(int lengthBytes)
    {
        if (bytes.Length - Length < lengthBytes)
            Array.Resize(ref bytes, Math.Max(checked(Length + lengthBytes), (int)Math.Min(Array.MaxLength, bytes.Length * 2L)));
        return bytes.AsSpan(Length);
    }

    public void Advance(int lengthBytes) => Length += lengthBytes;

    public void Append(Rune rune) => Advance(rune.EncodeToUtf8(Room(4)));

    /// <summary>Gives back the memory of one huge value, which most values never need.</summary>
    public void Trim(int mostBytes)
    {
        if (bytes.Length > mostBytes)
            bytes = new byte[256];
        Length = 0;
    }
}
