using System.Buffers.Binary;
using System.Diagnostics;
using System.Numerics;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Columns;

/// <summary>Edits a <see cref="NumberBlock"/>. Reusable for one block after another.</summary>
internal sealed class NumberBlockEditor
{
    /// <summary>
    /// A block may have this many slots per value, plus <see cref="FreeSlots"/>. If values are sparser, chunks are smaller.
    /// </summary>
    private const int MaxSlotsOfValue = 8;

    private const int FreeSlots = 64;

    private readonly long[] _values = new long[NumberBlock.Entries];
    private readonly ulong[] _present = new ulong[NumberBlock.Chunks];

    /// <summary>Starts editing without values.</summary>
    public void Clear() => Array.Clear(_present);

    /// <summary>Starts editing with the values of a block.</summary>
    public void Load(NumberBlock block)
    {
        Clear();
        for (int slot = 0; slot < block.Count; slot++)
        {
            if (!block.Has(slot))
                continue;
            _values[slot] = block.ValueAt(slot);
            _present[slot >> 6] |= 1UL << slot;
        }
    }

    /// <summary>Sets the number of a slot; false, with nothing changed, if a block cannot store it.</summary>
    public bool TrySet(int slot, ReadOnlySpan<byte> numberKey)
    {
        Debug.Assert((uint)slot < NumberBlock.Entries, "the slot is of the window");
        if (!NumberKey.TryToLong(numberKey, out long value) || value is < -SortChunk.MaxPacked or > SortChunk.MaxPacked)
            return false;
        _values[slot] = value;
        _present[slot >> 6] |= 1UL << slot;
        return true;
    }

    /// <summary>Removes the value of a slot.</summary>
    public void Remove(int slot) => _present[slot >> 6] &= ~(1UL << slot);

    /// <summary>The value of a slot; false if it has none.</summary>
    public bool TryGet(int slot, out long value)
    {
        Debug.Assert((uint)slot < NumberBlock.Entries, "the slot is of the window");
        value = _values[slot];
        return (_present[slot >> 6] >> slot & 1) != 0;
    }

    /// <summary>
    /// Writes the block and returns its length in bytes; 0 if no slot has a value, -1 if chunks would be smaller.
    /// </summary>
    public int Encode(Span<byte> output)
    {
        int groups = 0, entries = 0;
        for (int i = 0; i < _present.Length; i++)
        {
            entries += BitOperations.PopCount(_present[i]);
            groups = _present[i] == 0 ? groups : i + 1;
        }

        if (groups == 0)
            return 0;
        Debug.Assert(entries > 0 && groups <= NumberBlock.Chunks, "a block that is written has a value");
        int count = (groups * SortChunk.Entries) - BitOperations.LeadingZeroCount(_present[groups - 1]);
        if (count > (MaxSlotsOfValue * entries) + FreeSlots)
            return -1;

        bool hasAll = entries == count;
        (long least, long greatest) = Ends(groups);
        int width = 64 - BitOperations.LeadingZeroCount((ulong)(greatest - least));
        if (width > 0)
            width = Math.Max(width, NumberBlock.HighBits);
        Debug.Assert(width <= NumberBlock.MaxBits, "values from −2⁵³ to 2⁵³ differ by 54 bits");
        Debug.Assert(entries <= count && count <= NumberBlock.Entries, "values are within the slots");
        int lowBits = Math.Max(0, width - NumberBlock.HighBits);
        int presentStart = NumberBlock.HeaderBytes + (width == 0 ? 0 : groups * SortChunk.Entries),
            lowStart = presentStart + (hasAll ? 0 : groups * sizeof(ulong));
        output = output[..(lowStart + NumberBlock.LowBytes(groups, lowBits))];
        output.Clear();
        BinaryPrimitives.WriteUInt16LittleEndian(output, (ushort)count);
        output[NumberBlock.WidthOffset] = (byte)width;
        output[NumberBlock.AllOffset] = (byte)(hasAll ? 1 : 0);
        BinaryPrimitives.WriteInt64LittleEndian(output[NumberBlock.LeastOffset..], least);
        BinaryPrimitives.WriteInt64LittleEndian(output[NumberBlock.GreatestOffset..], greatest);
        for (int i = 0; i < groups && !hasAll; i++)
            BinaryPrimitives.WriteUInt64LittleEndian(output[(presentStart + (i * sizeof(ulong)))..], _present[i]);
        for (int i = 0; i < groups && width > 0; i++)
        {
            for (ulong left = _present[i]; left != 0; left &= left - 1)
            {
                int slot = (i << SortChunk.EntryBits) + BitOperations.TrailingZeroCount(left), bit = slot * lowBits;
                ulong above = (ulong)(_values[slot] - least);
                output[NumberBlock.HeaderBytes + slot] = (byte)(above >> lowBits);
                if (lowBits == 0)
                    continue;
                Span<byte> place = output[(lowStart + (bit >> 3))..];
                BinaryPrimitives.WriteUInt64LittleEndian(
                    place, BinaryPrimitives.ReadUInt64LittleEndian(place) | ((above & ((1UL << lowBits) - 1)) << (bit & 7)));
            }
        }

        return output.Length;
    }

    private (long Least, long Greatest) Ends(int groups)
    {
        Debug.Assert(groups > 0, "a block that is written has a value");
        long least = long.MaxValue, greatest = long.MinValue;
        for (int i = 0; i < groups; i++)
        {
            for (ulong left = _present[i]; left != 0; left &= left - 1)
            {
                long value = _values[(i << SortChunk.EntryBits) + BitOperations.TrailingZeroCount(left)];
                least = Math.Min(least, value);
                greatest = Math.Max(greatest, value);
            }
        }

        return (least, greatest);
    }
}
