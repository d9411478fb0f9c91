using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Writing;

/// <summary>
/// Converts a record of a batch into the stored form: replaces ordinals of words by their numbers, and separates the heads
/// of groups from the items. Reusable for one entry after another; results are valid until the next call.
/// </summary>
/// <param name="wordsOf">Word numbers by ordinal, per full-text field.</param>
internal sealed class RecordEncoder(Dictionary<int, long[]> wordsOf)
{
    private byte[] _heads = new byte[64];
    private byte[] _items = new byte[1_024];
    private long[] _numbers = new long[64];
    private int _headBytes;
    private int _itemBytes;

    /// <summary>The heads of the groups.</summary>
    public ReadOnlySpan<byte> Heads => _heads.AsSpan(0, _headBytes);

    /// <summary>The items of the groups.</summary>
    public ReadOnlySpan<byte> Items => _items.AsSpan(0, _itemBytes);

    /// <summary>Encodes a record of a batch; returns the key.</summary>
    public ReadOnlySpan<byte> Encode(ReadOnlySpan<byte> record)
    {
        _headBytes = _itemBytes = 0;
        ReadOnlySpan<byte> rest = record;
        int keyBytes = Varint.Read(ref rest);
        ReadOnlySpan<byte> key = rest[..keyBytes];
        rest = rest[keyBytes..];
        while (!rest.IsEmpty)
        {
            int head = Varint.Read(ref rest);
            if (_heads.Length - _headBytes < Varint.MaxBytes)
                Array.Resize(ref _heads, _heads.Length * 2);
            _headBytes += Varint.Write(_heads.AsSpan(_headBytes), head);
            var group = (EntryGroup)(head & 7);
            if (group == EntryGroup.Words)
            {
                EncodeWords(wordsOf[head >> 3], ref rest);
                continue;
            }

            ReadOnlySpan<byte> before = rest;
            Skip(group, ref rest);
            Copy(before[..^rest.Length]);
        }

        return key;
    }

    /// <summary>Skips the items of a group.</summary>
    public static void Skip(EntryGroup group, ref ReadOnlySpan<byte> rest)
    {
        int count = group is EntryGroup.Null or EntryGroup.Column ? 0 : Varint.Read(ref rest);
        for (int i = 0; i < count; i++)
        {
            if (group == EntryGroup.Terms)
            {
                int bytes = Varint.Read(ref rest);
                rest = rest[bytes..];
            }
            else
            {
                rest = rest[CompactNumber.BytesOf(rest)..];
            }
        }
    }

    private void EncodeWords(long[] words, ref ReadOnlySpan<byte> rest)
    {
        int count = Varint.Read(ref rest);
        if (_numbers.Length < count)
            _numbers = new long[Math.Max(count, _numbers.Length * 2)];
        for (int i = 0; i < count; i++)
            _numbers[i] = words[Varint.Read(ref rest)];
        Span<long> sorted = _numbers.AsSpan(0, count);
        sorted.Sort();
        Room(Varint.MaxBytes + WordNumbers.MaxBytes(count));
        _itemBytes += Varint.Write(_items.AsSpan(_itemBytes), count);
        _itemBytes += WordNumbers.Write(sorted, _items.AsSpan(_itemBytes));
    }

    private void Copy(ReadOnlySpan<byte> bytes)
    {
        Room(bytes.Length);
        bytes.CopyTo(_items.AsSpan(_itemBytes));
        _itemBytes += bytes.Length;
    }

    private void Room(int bytes)
    {
        if (_items.Length - _itemBytes < bytes)
            Array.Resize(ref _items, Math.Max(_itemBytes + bytes, _items.Length * 2));
    }
}
