using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Writing;

/// <summary>Makes the record that is kept of one that a batch has: words, which are ordinals there, get their numbers. Scratch, reused from entry to entry.</summary>
/// <param name="wordsOf">By full-text field: numbers by ordinal.</param>
internal sealed class RecordEncoder(Dictionary<int, long[]> wordsOf)
{
    private byte[] output = new byte[1_024];
    private long[] numbers = new long[64];
    private int length;

    /// <summary>The record; it lives until the next call.</summary>
    public ReadOnlySpan<byte> Encode(ReadOnlySpan<byte> record)
    {
        length = 0;
        ReadOnlySpan<byte> rest = record;
        int keyBytes = Varint.Read(ref rest);
        rest = rest[keyBytes..];
        Copy(record[..^rest.Length]);
        while (!rest.IsEmpty)
        {
            ReadOnlySpan<byte> group = rest;
            int head = Varint.Read(ref rest);
            if ((EntryGroup)(head & 7) == EntryGroup.Words)
            {
                EncodeWords(head, wordsOf[head >> 3], ref rest);
                continue;
            }

            Skip((EntryGroup)(head & 7), ref rest);
            Copy(group[..^rest.Length]);
        }

        return output.AsSpan(0, length);
    }

    private static void Skip(EntryGroup group, ref ReadOnlySpan<byte> rest)
    {
        int items = group == EntryGroup.Null ? 0 : Varint.Read(ref rest);
        for (int i = 0; i < items; i++)
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

    private void EncodeWords(int head, long[] words, ref ReadOnlySpan<byte> rest)
    {
        int count = Varint.Read(ref rest);
        if (numbers.Length < count)
            numbers = new long[Math.Max(count, numbers.Length * 2)];
        for (int i = 0; i < count; i++)
            numbers[i] = words[Varint.Read(ref rest)];
        Span<long> sorted = numbers.AsSpan(0, count);
        sorted.Sort();
        Room((2 * Varint.MaxBytes) + (count * Varint.MaxLongBytes));
        length += Varint.Write(output.AsSpan(length), head);
        length += Varint.Write(output.AsSpan(length), count);
        long last = 0;
        foreach (long number in sorted)
        {
            length += Varint.WriteLong(output.AsSpan(length), number - last);
            last = number;
        }
    }

    private void Copy(ReadOnlySpan<byte> bytes)
    {
        Room(bytes.Length);
        bytes.CopyTo(output.AsSpan(length));
        length += bytes.Length;
    }

    private void Room(int bytes)
    {
        if (output.Length - length < bytes)
            Array.Resize(ref output, Math.Max(length + bytes, output.Length * 2));
    }
}
