using System.Diagnostics;

namespace Treepie.Indexing.Terms;

/// <summary>Many small byte strings, one after another in a single growing array.</summary>
internal sealed class ByteArena
{
    private byte[] _bytes = new byte[1024];

    public int Length { get; private set; }

    public ReadOnlySpan<byte> Slice(int start, int length)
    {
        Debug.Assert(start >= 0 && length >= 0 && start + length <= Length, "a slice lies within what was added");
        return _bytes.AsSpan(start, length);
    }

    public int Add(ReadOnlySpan<byte> value)
    {
        int start = Length;
        value.CopyTo(Room(value.Length));
        Length += value.Length;
        return start;
    }

    /// <summary>Reserves bytes, which the caller must fill before anything else is added.</summary>
    public Span<byte> Reserve(int lengthBytes, out int start)
    {
        Debug.Assert(lengthBytes >= 0, "a length is not negative");
        Span<byte> room = Room(lengthBytes)[..lengthBytes];
        start = Length;
        Length += lengthBytes;
        return room;
    }

    public void AddVarint(int value) => Length += Varint.Write(Room(Varint.MaxBytes), value);

    /// <summary>Removes everything; keeps the memory unless it exceeds <paramref name="keepBytes"/>.</summary>
    public void Clear(int keepBytes)
    {
        Length = 0;
        if (_bytes.Length > keepBytes)
            _bytes = new byte[1024];
    }

    private Span<byte> Room(int lengthBytes)
    {
        if (_bytes.Length - Length < lengthBytes)
        {
            if (lengthBytes > Array.MaxLength - Length)
                throw new InvalidOperationException(
                    "An index batch is limited to 2 GiB. Commit it when its SizeBytes reaches the caller's budget.");
            Array.Resize(ref _bytes, (int)Math.Min(Array.MaxLength, Math.Max(Length + (long)lengthBytes, _bytes.Length * 2L)));
        }

        return _bytes.AsSpan(Length);
    }
}
