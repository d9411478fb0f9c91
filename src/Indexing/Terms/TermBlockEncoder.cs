using System.Buffers.Binary;
using System.Diagnostics;

namespace Treepie.Indexing.Terms;

/// <summary>Returns the weight of a term by its value.</summary>
internal delegate long TermWeight(ReadOnlySpan<byte> value);

/// <summary>Writes a <see cref="TermBlock"/>. Reusable for one block after another.</summary>
/// <param name="weight">Weight of a term by its value; null if terms have none.</param>
internal sealed class TermBlockEncoder(TermWeight? weight = null)
{
    private byte[] _output = new byte[2 * TermBlock.MaxBytes];
    private readonly ushort[] _groups = new ushort[(TermBlock.MaxBytes >> TermBlock.GroupBits) + 1];

    /// <summary>The size in bytes of a block with all these terms.</summary>
    public static int Measure(List<TermItem> items, ByteArena bytes)
    {
        var size = new Size();
        foreach (TermItem item in items)
            size = size.With(item, items[0], bytes);
        return size.Total;
    }

    /// <summary>
    /// Encodes terms from <paramref name="first"/> on until the block reaches <paramref name="wantedBytes"/>, but at least
    /// one term. The block is valid until the next call.
    /// </summary>
    public ReadOnlySpan<byte> Encode(List<TermItem> items, int first, int wantedBytes, ByteArena bytes, out int count)
    {
        Debug.Assert((uint)first < (uint)items.Count, "a block has terms");
        var size = new Size();
        count = 0;
        while (first + count < items.Count && (count == 0 || size.Total < wantedBytes))
        {
            Size more = size.With(items[first + count], items[first], bytes);
            if (count > 0 && more.Total > TermBlock.MaxBytes)
                break;
            size = more;
            count++;
        }

        return Write(items, first, count, size.Prefix, size.Suffix, bytes);
    }

    private ReadOnlySpan<byte> Write(List<TermItem> items, int first, int count, int prefix, int suffix, ByteArena bytes)
    {
        Debug.Assert(first + count <= items.Count, "the terms of a block are of the list");
        Debug.Assert(
            prefix is >= 0 and <= TermBlock.MaxCommon && suffix is >= 0 and <= TermBlock.MaxCommon,
            "2: prefix and suffix fit their lengths");
        Debug.Assert(count > 0, "a block has terms");
        int table = 2 * ((count - 1) >> TermBlock.GroupBits);
        ReadOnlySpan<byte> head = Key(items[first], bytes);
        int start = TermBlock.HeaderBytes + table + prefix + suffix;
        Grow(start);
        BinaryPrimitives.WriteUInt16LittleEndian(_output, (ushort)count);
        _output[TermBlock.PrefixOffset] = (byte)prefix;
        _output[TermBlock.SuffixOffset] = (byte)suffix;
        head[..prefix].CopyTo(_output.AsSpan(TermBlock.HeaderBytes + table));
        head[^suffix..].CopyTo(_output.AsSpan(TermBlock.HeaderBytes + table + prefix));
        int length = start;
        long weighs = 0;
        for (int i = 0; i < count; i++)
        {
            TermItem item = items[first + i];
            weighs += weight is null ? 0 : weight(bytes.Slice(item.Value, item.ValueLength));
            if (i > 0 && (i & ((1 << TermBlock.GroupBits) - 1)) == 0)
                _groups[(i >> TermBlock.GroupBits) - 1] = checked((ushort)(length - start));
            int middle = item.KeyLength - prefix - suffix;
            Debug.Assert(
                i == 0 || Key(items[first + i - 1], bytes).SequenceCompareTo(Key(item, bytes)) < 0, "1: terms of a block ascend");
            Debug.Assert(
                Key(item, bytes).StartsWith(head[..prefix]) && Key(item, bytes).EndsWith(head[^suffix..]),
                "2: all terms have the prefix and suffix");
            Grow(length + TermBlock.MaxHeadBytes + middle + item.ValueLength);
            length += TermBlock.WriteHead(_output.AsSpan(length), middle, item.ValueLength);
            Key(item, bytes).Slice(prefix, middle).CopyTo(_output.AsSpan(length));
            length += middle;
            bytes.Slice(item.Value, item.ValueLength).CopyTo(_output.AsSpan(length));
            length += item.ValueLength;
        }

        BinaryPrimitives.WriteUInt32LittleEndian(_output.AsSpan(TermBlock.WeightOffset), (uint)Math.Min(weighs, uint.MaxValue));
        for (int i = 0; i < table / 2; i++)
            BinaryPrimitives.WriteUInt16LittleEndian(_output.AsSpan(TermBlock.HeaderBytes + (2 * i)), _groups[i]);
        return _output.AsSpan(0, length);
    }

    private static ReadOnlySpan<byte> Key(TermItem item, ByteArena bytes) => bytes.Slice(item.Key, item.KeyLength);

    private void Grow(int needed)
    {
        if (needed > _output.Length)
            Array.Resize(ref _output, Math.Max(needed, _output.Length * 2));
    }

    /// <summary>Number, length in bytes, and common prefix and suffix of the terms so far.</summary>
    private readonly record struct Size(int Count, int Bytes, int Prefix, int Suffix)
    {
        /// <summary>The size in bytes of a block with these terms.</summary>
        public int Total =>
            TermBlock.HeaderBytes + (2 * (Count >> TermBlock.GroupBits)) + Bytes - ((Count - 1) * (Prefix + Suffix));

        /// <summary>Adds a term that is greater than all terms so far.</summary>
        public Size With(TermItem item, TermItem first, ByteArena bytes)
        {
            ReadOnlySpan<byte> key = Key(item, bytes), head = Key(first, bytes);
            int length = key.Length;
            int prefix = Count == 0 ? Math.Min(length, TermBlock.MaxCommon) : key.CommonPrefixLength(head[..Prefix]);
            key = key[prefix..];
            head = head[prefix..];
            int most = Math.Min(
                Count switch { 0 => 0, 1 => Math.Min(head.Length, TermBlock.MaxCommon), _ => Suffix }, key.Length);
            int suffix = 0;
            while (suffix < most && key[^(suffix + 1)] == head[^(suffix + 1)])
                suffix++;
            int longs = (key.Length - suffix >= TermBlock.LongLength ? 1 : 0)
                + (item.ValueLength >= TermBlock.LongLength ? 1 : 0);
            return new Size(Count + 1, Bytes + 1 + length + item.ValueLength + longs, prefix, suffix);
        }
    }
}
