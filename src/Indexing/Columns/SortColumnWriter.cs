using System.Buffers.Binary;
using System.Diagnostics;
using System.Numerics;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Terms;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Columns;

/// <summary>
/// Changes sort values of one field. Entries come in ascending order; a chunk is read and written once. A window is a
/// <see cref="NumberBlock"/> while all its values are suitable numbers, and neighbouring entries are a <see cref="TextBlock"/>
/// while they have few distinct texts. Otherwise the block is split into chunks for good. Reusable for one field and transaction
/// after another: <see cref="Begin"/>, changes, <see cref="Flush"/>. Invariants:
/// 1. Values of an entry are in exactly one of: the window's numbers, the block's texts, a chunk.
/// 2. The loaded chunk lies in the loaded block, which lies in the loaded window.
/// </summary>
internal sealed class SortColumnWriter
{
    private const int MaxTextBytes = 1024;

    private readonly SortTag[] tags = new SortTag[SortChunk.Entries];
    private readonly byte[] values = new byte[SortChunk.Entries * MaxTextBytes];
    private readonly int[] lengths = new int[SortChunk.Entries];
    private readonly byte[] places = new byte[SortChunk.Entries];
    private readonly int[] firsts = new int[SortChunk.Entries];
    private readonly byte[] output = new byte[1 + (SortChunk.Entries * (SortChunk.SlotBytes + MaxTextBytes))];
    private readonly TextBlockEditor texts = new();
    private readonly NumberBlockEditor numbers = new();
    private WriteTransaction transaction = null!; // Begin sets these before any change
    private string blocksName = "";
    private string numbersName = "";
    private Tree column = null!; // Begin sets it before any change
    private Tree? blocks;
    private Tree? windows;
    private Cursor? cursor;
    private long chunk = -1;
    private long block = -1;
    private long window = -1;
    private bool isBlock;
    private bool wasBlock;
    private bool isNumbers;
    private bool wasNumbers;

    /// <summary>Switches to another field; discards changes that were not flushed.</summary>
    /// <param name="writing">The transaction.</param>
    /// <param name="chunksName">The tree of its chunks.</param>
    /// <param name="textsName">The tree of its blocks of texts, which exists once there was one.</param>
    /// <param name="wholeName">The tree of its blocks of numbers, which exists once there was one.</param>
    public void Begin(WriteTransaction writing, string chunksName, string textsName, string wholeName)
    {
        transaction = writing;
        column = writing.GetOrCreateTree(chunksName);
        blocksName = textsName;
        blocks = writing.FindTree(textsName);
        numbersName = wholeName;
        windows = writing.FindTree(wholeName);
        cursor = null;
        chunk = block = window = -1;
    }

    public void SetNumber(long id, ReadOnlySpan<byte> numberKey) => Set(id, SortTag.Number, numberKey);

    public void SetText(long id, ReadOnlySpan<byte> form) => Set(id, SortTag.Text, form);

    public void Remove(long id) => Set(id, SortTag.None, default);

    /// <summary>Writes all remaining changes.</summary>
    public void Flush()
    {
        if (window >= 0 && isNumbers)
            FlushNumbers();
        window = -1;
        LeaveBlock();
    }

    private void LeaveBlock()
    {
        if (block >= 0 && isBlock)
            FlushBlock();
        FlushChunk();
        block = -1;
    }

    private void FlushNumbers()
    {
        int length = numbers.Encode(output);
        if (length < 0)
        {
            TakeNumbersApart();
            return;
        }

        Span<byte> key = stackalloc byte[EntryKey.Bytes];
        EntryKey.Write(key, window);
        if (length > 0)
            (windows ??= transaction.GetOrCreateTree(numbersName)).Put(key, output.AsSpan(0, length));
        else if (wasNumbers)
            windows!.Delete(key); // the block was read from this tree
    }

    private void FlushBlock()
    {
        int length = texts.Encode(output);
        if (length < 0)
        {
            TakeApart();
            return;
        }

        Span<byte> key = stackalloc byte[EntryKey.Bytes];
        EntryKey.Write(key, block);
        if (length > 0)
            (blocks ??= transaction.GetOrCreateTree(blocksName)).Put(key, output.AsSpan(0, length));
        else if (wasBlock)
            blocks!.Delete(key); // it was there
    }

    private void FlushChunk()
    {
        if (chunk < 0)
            return;

        Span<byte> key = stackalloc byte[EntryKey.Bytes];
        EntryKey.Write(key, chunk);
        int length = Encode();
        if (length == 0)
            column.Delete(key);
        else
            column.Put(key, output.AsSpan(0, length));
        chunk = -1;
    }

    /// <summary>Loads the numbers of a window, which may be none yet, unless it has other values.</summary>
    private void EnterWindow(long number)
    {
        Flush();
        window = number;
        Span<byte> key = stackalloc byte[EntryKey.Bytes];
        EntryKey.Write(key, number);
        ReadOnlySpan<byte> bytes = default;
        wasNumbers = windows is not null && windows.TryGet(key, out bytes);
        if (wasNumbers)
        {
            numbers.Load(new NumberBlock(bytes));
            isNumbers = true;
            return;
        }

        isNumbers = !HasChunks(number * NumberBlock.Chunks, NumberBlock.Chunks);
        for (int i = 0; i < TextBlock.OfWindow && isNumbers && blocks is not null; i++)
        {
            EntryKey.Write(key, (number * TextBlock.OfWindow) + i);
            isNumbers = !blocks.Contains(key);
        }

        if (isNumbers)
            numbers.Clear();
    }

    private bool HasChunks(long first, int count)
    {
        Span<byte> key = stackalloc byte[EntryKey.Bytes];
        EntryKey.Write(key, first);
        cursor ??= column.OpenCursor();
        return cursor.Seek(key) && EntryKey.Read(cursor.Key) < first + count;
    }

    /// <summary>Moves the numbers of the window to chunks.</summary>
    private void TakeNumbersApart()
    {
        Debug.Assert(isNumbers && block < 0 && chunk < 0, "1: a window of numbers has no blocks and chunks");
        isNumbers = false;
        if (wasNumbers)
        {
            Span<byte> key = stackalloc byte[EntryKey.Bytes];
            EntryKey.Write(key, window);
            windows!.Delete(key); // it was there
        }

        Span<byte> number = stackalloc byte[NumberKey.Bytes];
        for (int slot = 0; slot < NumberBlock.Entries; slot++)
        {
            if (!numbers.TryGet(slot, out long value))
                continue;
            NumberKey.Write(number, value);
            SetInBlock((window << NumberBlock.EntryBits) + slot, SortTag.Number, number);
        }
    }

    private bool TrySetInNumbers(long id, SortTag tag, ReadOnlySpan<byte> value)
    {
        int slot = (int)(id & (NumberBlock.Entries - 1));
        if (tag == SortTag.None)
            numbers.Remove(slot);
        return tag == SortTag.None || (tag == SortTag.Number && numbers.TrySet(slot, value));
    }

    /// <summary>Loads a block, or starts a new one if its entries have no chunks either.</summary>
    private void Enter(long number)
    {
        LeaveBlock();
        block = number;
        Span<byte> key = stackalloc byte[EntryKey.Bytes];
        EntryKey.Write(key, number);
        ReadOnlySpan<byte> bytes = default;
        wasBlock = blocks is not null && blocks.TryGet(key, out bytes);
        if (wasBlock)
        {
            texts.Load(new TextBlock(bytes));
            isBlock = true;
            return;
        }

        isBlock = !HasChunks(number * TextBlock.Chunks, TextBlock.Chunks);
        if (isBlock)
            texts.Clear();
    }

    /// <summary>Moves the texts of the block to chunks.</summary>
    private void TakeApart()
    {
        Debug.Assert(isBlock && chunk < 0, "1: a block of texts has no chunks");
        isBlock = false;
        if (wasBlock)
        {
            Span<byte> key = stackalloc byte[EntryKey.Bytes];
            EntryKey.Write(key, block);
            blocks!.Delete(key); // it was there
        }

        for (int entry = 0; entry < TextBlock.Entries && texts.Count > 0; entry++)
        {
            if (texts.TryGet(entry, out ReadOnlySpan<byte> text))
                SetInChunk((block << TextBlock.EntryBits) + entry, SortTag.Text, text);
        }
    }

    private bool TrySetInBlock(long id, SortTag tag, ReadOnlySpan<byte> value)
    {
        int entry = (int)(id & (TextBlock.Entries - 1));
        if (tag == SortTag.None)
            texts.Remove(entry);
        return tag == SortTag.None || (tag == SortTag.Text && texts.TrySet(entry, value));
    }

    private void Set(long id, SortTag tag, ReadOnlySpan<byte> value)
    {
        if (id >> NumberBlock.EntryBits != window)
            EnterWindow(id >> NumberBlock.EntryBits);
        if (isNumbers && TrySetInNumbers(id, tag, value))
            return;
        if (isNumbers)
            TakeNumbersApart();
        SetInBlock(id, tag, value);
    }

    private void SetInBlock(long id, SortTag tag, ReadOnlySpan<byte> value)
    {
        if (id >> TextBlock.EntryBits != block)
            Enter(id >> TextBlock.EntryBits);
        if (isBlock && TrySetInBlock(id, tag, value))
            return;
        if (isBlock)
            TakeApart();
        SetInChunk(id, tag, value);
    }

    private void SetInChunk(long id, SortTag tag, ReadOnlySpan<byte> value)
    {
        if (id >> SortChunk.EntryBits != chunk)
        {
            FlushChunk();
            Load(id >> SortChunk.EntryBits);
        }

        Debug.Assert(!isBlock && id >> TextBlock.EntryBits == block, "2: the chunk lies in the block");
        Debug.Assert(value.Length <= MaxTextBytes, "a sort value is bounded");
        int slot = (int)(id & (SortChunk.Entries - 1));
        tags[slot] = tag;
        lengths[slot] = value.Length;
        value.CopyTo(values.AsSpan(slot * MaxTextBytes, MaxTextBytes));
    }

    private void Load(long number)
    {
        chunk = number;
        Array.Clear(tags);
        Span<byte> key = stackalloc byte[EntryKey.Bytes];
        EntryKey.Write(key, chunk);
        if (!column.TryGet(key, out ReadOnlySpan<byte> bytes))
            return;

        var old = new SortChunk(bytes);
        Span<byte> room = stackalloc byte[NumberKey.Bytes];
        for (int slot = 0; slot < old.Count; slot++)
        {
            tags[slot] = old.TagAt(slot);
            Span<byte> value = values.AsSpan(slot * MaxTextBytes, MaxTextBytes);
            switch (tags[slot])
            {
                case SortTag.Number:
                    old.NumberAt(slot, room).CopyTo(value);
                    lengths[slot] = NumberKey.Bytes;
                    break;
                case SortTag.Text:
                    old.TextHeadAt(slot).CopyTo(value);
                    old.TextRestAt(slot).CopyTo(value[SortChunk.HeadBytes..]);
                    lengths[slot] = old.TextLengthAt(slot);
                    break;
            }
        }
    }

    private int Encode()
    {
        int count = Array.FindLastIndex(tags, tag => tag != SortTag.None) + 1;
        if (count == 0)
            return 0;

        if (TryPack(count, out int packed) || TryPackTexts(count, out packed))
            return packed;
        output[0] = (byte)count;
        int textStart = 1 + (count * SortChunk.SlotBytes);
        int texts = 0;
        for (int i = 0; i < count; i++)
        {
            Span<byte> slot = output.AsSpan(1 + (i * SortChunk.SlotBytes), SortChunk.SlotBytes);
            ReadOnlySpan<byte> value = values.AsSpan(i * MaxTextBytes, lengths[i]);
            slot.Clear();
            slot[0] = (byte)tags[i];
            if (tags[i] == SortTag.Number)
            {
                value.CopyTo(slot[1..]);
            }
            else if (tags[i] == SortTag.Text)
            {
                int head = Math.Min(SortChunk.HeadBytes, value.Length);
                value[..head].CopyTo(slot[1..]);
                BinaryPrimitives.WriteUInt16LittleEndian(slot[9..], (ushort)value.Length);
                BinaryPrimitives.WriteUInt16LittleEndian(slot[11..], (ushort)texts);
                value[head..].CopyTo(output.AsSpan(textStart + texts));
                texts += value.Length - head;
            }
        }

        return textStart + texts;
    }

    /// <summary>Encodes a chunk of whole numbers close to each other.</summary>
    private bool TryPack(int count, out int length)
    {
        long least = long.MaxValue, greatest = long.MinValue;
        ulong present = 0;
        length = 0;
        for (int i = 0; i < count; i++)
        {
            if (tags[i] == SortTag.None)
                continue;
            if (tags[i] != SortTag.Number
                || !NumberKey.TryToLong(NumberOf(i), out long value)
                || value is < -SortChunk.MaxPacked or > SortChunk.MaxPacked)
                return false;
            least = Math.Min(least, value);
            greatest = Math.Max(greatest, value);
            present |= 1UL << i;
        }

        int width = 64 - BitOperations.LeadingZeroCount((ulong)(greatest - least));
        length = SortChunk.PackedHeaderBytes + ((count - 1) * width >> 3) + sizeof(ulong);
        if (width > SortChunk.MaxPackedBits || length >= 1 + (count * SortChunk.SlotBytes))
            return false;

        output.AsSpan(0, length).Clear();
        output[0] = (byte)(count | SortChunk.PackedFlag);
        output[1] = (byte)width;
        BinaryPrimitives.WriteInt64LittleEndian(output.AsSpan(2), least);
        BinaryPrimitives.WriteUInt64LittleEndian(output.AsSpan(10), present);
        for (int i = 0; i < count; i++)
        {
            if (tags[i] == SortTag.None || !NumberKey.TryToLong(NumberOf(i), out long value))
                continue;
            int bit = i * width;
            Span<byte> place = output.AsSpan(SortChunk.PackedHeaderBytes + (bit >> 3));
            BinaryPrimitives.WriteUInt64LittleEndian(
                place, BinaryPrimitives.ReadUInt64LittleEndian(place) | ((ulong)(value - least) << (bit & 7)));
        }

        return true;
    }

    /// <summary>Encodes a chunk of texts, each distinct text once.</summary>
    private bool TryPackTexts(int count, out int length)
    {
        length = 0;
        int different = 0;
        int plain = 1 + (count * SortChunk.SlotBytes);
        int texts = 0;
        for (int i = 0; i < count; i++)
        {
            if (tags[i] == SortTag.Number)
                return false;
            if (tags[i] == SortTag.None)
                continue;
            ReadOnlySpan<byte> value = TextOf(i);
            int place = 0;
            while (place < different && !TextOf(firsts[place]).SequenceEqual(value))
                place++;
            places[i] = (byte)place;
            plain += Math.Max(0, value.Length - SortChunk.HeadBytes);
            if (place < different)
                continue;
            firsts[different++] = i;
            texts += value.Length;
        }

        int bits = SortChunk.PlaceBits(different);
        int endBytes = texts <= byte.MaxValue ? 1 : sizeof(ushort);
        int placesStart = SortChunk.TextsHeaderBytes + (different * endBytes);
        int start = placesStart + SortChunk.PlaceBytes(count, bits);
        length = start + texts + SortChunk.HeadBytes;
        if (texts > ushort.MaxValue || length >= plain)
            return false;

        output.AsSpan(0, length).Clear();
        output[0] = (byte)(count | SortChunk.PackedFlag);
        output[1] = SortChunk.TextMark;
        output[2] = (byte)different;
        output[3] = (byte)(bits | (endBytes > 1 ? SortChunk.WideFlag : 0));
        int end = 0;
        for (int place = 0; place < different; place++)
        {
            ReadOnlySpan<byte> value = TextOf(firsts[place]);
            value.CopyTo(output.AsSpan(start + end));
            end += value.Length;
            if (endBytes == 1)
                output[SortChunk.TextsHeaderBytes + place] = (byte)end;
            else
                BinaryPrimitives.WriteUInt16LittleEndian(output.AsSpan(SortChunk.TextsHeaderBytes + (2 * place)), (ushort)end);
        }

        for (int i = 0; i < count; i++)
        {
            int bit = i * bits;
            int place = tags[i] == SortTag.None ? different : places[i];
            output[placesStart + (bit >> 3)] |= (byte)(place << (bit & 7));
            if ((bit & 7) + bits > 8)
                output[placesStart + (bit >> 3) + 1] |= (byte)(place >> (8 - (bit & 7)));
        }

        return true;
    }

    private ReadOnlySpan<byte> TextOf(int slot) => values.AsSpan(slot * MaxTextBytes, lengths[slot]);

    private ReadOnlySpan<byte> NumberOf(int slot) => values.AsSpan(slot * MaxTextBytes, NumberKey.Bytes);
}
