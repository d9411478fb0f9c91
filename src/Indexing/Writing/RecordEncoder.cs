using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Writing;

/// <summary>
/// Converts a record of a batch into the stored form: ordinals of words become their numbers, and heads of groups are separated
/// from items. Reusable for one entry after another; results are valid until the next call.
/// </summary>
/// <param name="wordsOf">Numbers by ordinal, per full-text field.</param>
internal sealed class RecordEncoder(Dictionary<int, long[]> wordsOf)
{
    private byte[] heads = new byte[64];
    private byte[] items = new byte[1_024];
    private long[] numbers = new long[64];
    private int headBytes;
    private int itemBytes;

    /// <summary>The heads of the groups.</summary>
    public ReadOnlySpan<byte> Heads => heads.AsSpan(0, headBytes);

    /// <summary>The items of the groups.</summary>
    public ReadOnlySpan<byte> Items => items.AsSpan(0, itemBytes);

    /// <summary>Encodes a record of a batch; returns the key.</summary>
    public ReadOnlySpan<byte> Encode(ReadOnlySpan<byte> record)
    {
        headBytes = itemBytes = 0;
        ReadOnlySpan<byte> rest = record;
        int keyBytes = Varint.Read(ref rest);
        ReadOnlySpan<byte> key = rest[..keyBytes];
        rest = rest[keyBytes..];
        while (!rest.IsEmpty)
        {
            int head = Varint.Read(ref rest);
            if (heads.Length - headBytes < Varint.MaxBytes)
                Array.Resize(ref heads, heads.Length * 2);
            headBytes += Varint.Write(heads.AsSpan(headBytes), head);
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
        if (numbers.Length < count)
            numbers = new long[Math.Max(count, numbers.Length * 2)];
        for (int i = 0; i < count; i++)
            numbers[i] = words[Varint.Read(ref rest)];
        Span<long> sorted = numbers.AsSpan(0, count);
        sorted.Sort();
        Room(Varint.MaxBytes + WordNumbers.MaxBytes(count));
        itemBytes += Varint.Write(items.AsSpan(itemBytes), count);
        itemBytes += WordNumbers.Write(sorted, items.AsSpan(itemBytes));
    }

    private void Copy(ReadOnlySpan<byte> bytes)
    {
        Room(bytes.Length);
        bytes.CopyTo(items.AsSpan(itemBytes));
        itemBytes += bytes.Length;
    }

    private void Room(int bytes)
    {
        if (items.Length - itemBytes < bytes)
            Array.Resize(ref items, Math.Max(itemBytes + bytes, items.Length * 2));
    }
}
