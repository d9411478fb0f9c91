namespace Treepie.Indexing.Terms;

/// <summary>Bytes of many small things one after the other, in one growing array.</summary>
internal sealed class ByteArena
{
    private byte[] bytes = new byte[1024];

    public int Length { get; private set; }

    public ReadOnlySpan<byte> Slice(int start, int length) => bytes.AsSpan(start, length);

    public int Add(ReadOnlySpan<byte> value)
    {
        int start = Length;
        value.CopyTo(Room(value.Length));
        Length += value.Length;
        return start;
    }

    /// <summary>Room for so many bytes, to be filled before anything else is added.</summary>
    public Span<byte> Reserve(int lengthBytes, out int start)
    {
        Span<byte> room = Room(lengthBytes)[..lengthBytes];
        start = Length;
        Length += lengthBytes;
        return room;
    }

    public void AddVarint(int value) => Length += Varint.Write(Room(Varint.MaxBytes), value);

    /// <summary>Forgets everything; the memory stays unless it is more than <paramref name="keepBytes"/>.</summary>
    public void Clear(int keepBytes)
    {
        Length = 0;
        if (bytes.Length > keepBytes)
            bytes = new byte[1024];
    }

    private Span<byte> Room(int lengthBytes)
    {
        if (bytes.Length - Length < lengthBytes)
        {
            if (lengthBytes > Array.MaxLength - Length)
                throw new InvalidOperationException(
                    "An index batch is limited to 2 GiB. Commit it when its SizeBytes reaches the caller's budget.");
            Array.Resize(ref bytes, (int)Math.Min(Array.MaxLength, Math.Max(Length + (long)lengthBytes, bytes.Length * 2L)));
        }

        return bytes.AsSpan(Length);
    }
}
