using System.Buffers.Binary;
using System.Diagnostics;
using System.Numerics;
using Treepie.Indexing.Catalogue;
using Treepie.Indexing.Terms;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Columns;

/// <summary>
/// Changes the sort values of one field. Entries come in ascending order, so a chunk is read and written once. A window is a
/// <see cref="NumberBlock"/> as long as all its values are suitable numbers, and neighbouring entries are a
/// <see cref="TextBlock"/> as long as they have few distinct texts. Otherwise the block is permanently split into chunks.
/// Reusable for one field and transaction after another: <see cref="Begin"/>, changes, <see cref="Flush"/>. Invariants:
/// 1. Values of an entry are in exactly one of: the window's numbers, the block's texts, a chunk.
/// 2. The loaded chunk lies in the loaded block, which lies in the loaded window.
/// </summary>
internal sealed class SortColumnWriter
{
    private const int MaxTextBytes = 1024;

    private readonly SortTag[] _tags = new SortTag[SortChunk.Entries];
    private readonly byte[] _values = new byte[SortChunk.Entries * MaxTextBytes];
    private readonly int[] _lengths = new int[SortChunk.Entries];
    private readonly byte[] _places = new byte[SortChunk.Entries];
    private readonly int[] _firsts = new int[SortChunk.Entries];
    private readonly byte[] _output = new byte[1 + (SortChunk.Entries * (SortChunk.SlotBytes + MaxTextBytes))];
    private readonly TextBlockEditor _texts = new();
    private readonly NumberBlockEditor _numbers = new();
    private WriteTransaction _transaction = null!; // Begin sets these before any change
    private string _blocksName = "";
    private string _numbersName = "";
    private Tree _column = null!; // Begin sets it before any change
    private Tree? _blocks;
    private Tree? _windows;
    private Cursor? _cursor;
    private long _chunk = -1;
    private long _block = -1;
    private long _window = -1;
    private bool _isBlock;
    private bool _wasBlock;
    private bool _isNumbers;
    private bool _wasNumbers;

    /// <summary>Switches to another field. Changes that were not flushed are discarded.</summary>
    /// <param name="writing">The transaction.</param>
    /// <param name="chunksName">The tree of its chunks.</param>
    /// <param name="textsName">The tree of its blocks of texts, which is created with the first block.</param>
    /// <param name="wholeName">The tree of its blocks of numbers, which is created with the first block.</param>
    public void Begin(WriteTransaction writing, string chunksName, string textsName, string wholeName)
    {
        _transaction = writing;
        _column = writing.GetOrCreateTree(chunksName);
        _blocksName = textsName;
        _blocks = writing.FindTree(textsName);
        _numbersName = wholeName;
        _windows = writing.FindTree(wholeName);
        _cursor = null;
        _chunk = _block = _window = -1;
    }

    public void SetNumber(long id, ReadOnlySpan<byte> numberKey) => Set(id, SortTag.Number, numberKey);

    public void SetText(long id, ReadOnlySpan<byte> form) => Set(id, SortTag.Text, form);

    public void Remove(long id) => Set(id, SortTag.None, default);

    /// <summary>Writes all remaining changes.</summary>
    public void Flush()
    {
        if (_window >= 0 && _isNumbers)
            FlushNumbers();
        _window = -1;
        LeaveBlock();
    }

    private void LeaveBlock()
    {
        if (_block >= 0 && _isBlock)
            FlushBlock();
        FlushChunk();
        _block = -1;
    }

    private void FlushNumbers()
    {
        Debug.Assert(_isNumbers && _window >= 0, "2: only a loaded window of numbers is written");
        int length = _numbers.Encode(_output);
        if (length < 0)
        {
            TakeNumbersApart();
            return;
        }

        Span<byte> key = stackalloc byte[EntryKey.Bytes];
        EntryKey.Write(key, _window);
        if (length > 0)
            (_windows ??= _transaction.GetOrCreateTree(_numbersName)).Put(key, _output.AsSpan(0, length));
        else if (_wasNumbers)
            _windows!.Delete(key); // the block was read from this tree
    }

    private void FlushBlock()
    {
        Debug.Assert(_isBlock && _block >= 0 && _chunk < 0, "1: a block of texts has no chunks");
        int length = _texts.Encode(_output);
        if (length < 0)
        {
            TakeApart();
            return;
        }

        Span<byte> key = stackalloc byte[EntryKey.Bytes];
        EntryKey.Write(key, _block);
        if (length > 0)
            (_blocks ??= _transaction.GetOrCreateTree(_blocksName)).Put(key, _output.AsSpan(0, length));
        else if (_wasBlock)
            _blocks!.Delete(key); // the block was read from this tree
    }

    private void FlushChunk()
    {
        if (_chunk < 0)
            return;

        Span<byte> key = stackalloc byte[EntryKey.Bytes];
        EntryKey.Write(key, _chunk);
        int length = Encode();
        if (length == 0)
            _column.Delete(key);
        else
            _column.Put(key, _output.AsSpan(0, length));
        _chunk = -1;
    }

    /// <summary>
    /// Loads the numbers of a window, or starts a new block of numbers if the window has no values of any form.
    /// </summary>
    private void EnterWindow(long number)
    {
        Debug.Assert(number >= 0, "windows are numbered from 0");
        Flush();
        _window = number;
        Span<byte> key = stackalloc byte[EntryKey.Bytes];
        EntryKey.Write(key, number);
        ReadOnlySpan<byte> bytes = default;
        _wasNumbers = _windows is not null && _windows.TryGet(key, out bytes);
        if (_wasNumbers)
        {
            _numbers.Load(new NumberBlock(bytes));
            _isNumbers = true;
            return;
        }

        _isNumbers = !HasChunks(number * NumberBlock.Chunks, NumberBlock.Chunks);
        for (int i = 0; i < TextBlock.OfWindow && _isNumbers && _blocks is not null; i++)
        {
            EntryKey.Write(key, (number * TextBlock.OfWindow) + i);
            _isNumbers = !_blocks.Contains(key);
        }

        if (_isNumbers)
            _numbers.Clear();
    }

    private bool HasChunks(long first, int count)
    {
        Span<byte> key = stackalloc byte[EntryKey.Bytes];
        EntryKey.Write(key, first);
        _cursor ??= _column.OpenCursor();
        return _cursor.Seek(key) && EntryKey.Read(_cursor.Key) < first + count;
    }

    /// <summary>Moves the numbers of the window to chunks.</summary>
    private void TakeNumbersApart()
    {
        Debug.Assert(_isNumbers && _block < 0 && _chunk < 0, "1: a window of numbers has no blocks and chunks");
        _isNumbers = false;
        if (_wasNumbers)
        {
            Span<byte> key = stackalloc byte[EntryKey.Bytes];
            EntryKey.Write(key, _window);
            _windows!.Delete(key); // the block was read from this tree
        }

        Span<byte> number = stackalloc byte[NumberKey.Bytes];
        for (int slot = 0; slot < NumberBlock.Entries; slot++)
        {
            if (!_numbers.TryGet(slot, out long value))
                continue;
            NumberKey.Write(number, value);
            SetInBlock((_window << NumberBlock.EntryBits) + slot, SortTag.Number, number);
        }
    }

    private bool TrySetInNumbers(long id, SortTag tag, ReadOnlySpan<byte> value)
    {
        Debug.Assert(_isNumbers && id >> NumberBlock.EntryBits == _window, "2: the entry lies in the window");
        int slot = (int)(id & (NumberBlock.Entries - 1));
        if (tag == SortTag.None)
            _numbers.Remove(slot);
        return tag == SortTag.None || (tag == SortTag.Number && _numbers.TrySet(slot, value));
    }

    /// <summary>Loads a block of texts, or starts a new one if its entries have no chunks.</summary>
    private void Enter(long number)
    {
        Debug.Assert(!_isNumbers && number / TextBlock.OfWindow == _window, "2: the block lies in the window");
        LeaveBlock();
        _block = number;
        Span<byte> key = stackalloc byte[EntryKey.Bytes];
        EntryKey.Write(key, number);
        ReadOnlySpan<byte> bytes = default;
        _wasBlock = _blocks is not null && _blocks.TryGet(key, out bytes);
        if (_wasBlock)
        {
            _texts.Load(new TextBlock(bytes));
            _isBlock = true;
            return;
        }

        _isBlock = !HasChunks(number * TextBlock.Chunks, TextBlock.Chunks);
        if (_isBlock)
            _texts.Clear();
    }

    /// <summary>Moves the texts of the block to chunks.</summary>
    private void TakeApart()
    {
        Debug.Assert(_isBlock && _chunk < 0, "1: a block of texts has no chunks");
        _isBlock = false;
        if (_wasBlock)
        {
            Span<byte> key = stackalloc byte[EntryKey.Bytes];
            EntryKey.Write(key, _block);
            _blocks!.Delete(key); // the block was read from this tree
        }

        for (int entry = 0; entry < TextBlock.Entries && _texts.Count > 0; entry++)
        {
            if (_texts.TryGet(entry, out ReadOnlySpan<byte> text))
                SetInChunk((_block << TextBlock.EntryBits) + entry, SortTag.Text, text);
        }
    }

    private bool TrySetInBlock(long id, SortTag tag, ReadOnlySpan<byte> value)
    {
        Debug.Assert(_isBlock && id >> TextBlock.EntryBits == _block, "2: the entry lies in the block");
        int entry = (int)(id & (TextBlock.Entries - 1));
        if (tag == SortTag.None)
            _texts.Remove(entry);
        return tag == SortTag.None || (tag == SortTag.Text && _texts.TrySet(entry, value));
    }

    private void Set(long id, SortTag tag, ReadOnlySpan<byte> value)
    {
        if (id >> NumberBlock.EntryBits != _window)
            EnterWindow(id >> NumberBlock.EntryBits);
        if (_isNumbers && TrySetInNumbers(id, tag, value))
            return;
        if (_isNumbers)
            TakeNumbersApart();
        SetInBlock(id, tag, value);
    }

    private void SetInBlock(long id, SortTag tag, ReadOnlySpan<byte> value)
    {
        Debug.Assert(!_isNumbers && id >> NumberBlock.EntryBits == _window, "1: a window of numbers has no blocks");
        if (id >> TextBlock.EntryBits != _block)
            Enter(id >> TextBlock.EntryBits);
        if (_isBlock && TrySetInBlock(id, tag, value))
            return;
        if (_isBlock)
            TakeApart();
        SetInChunk(id, tag, value);
    }

    private void SetInChunk(long id, SortTag tag, ReadOnlySpan<byte> value)
    {
        if (id >> SortChunk.EntryBits != _chunk)
        {
            FlushChunk();
            Load(id >> SortChunk.EntryBits);
        }

        Debug.Assert(!_isBlock && id >> TextBlock.EntryBits == _block, "2: the chunk lies in the block");
        Debug.Assert(value.Length <= MaxTextBytes, "a sort value is bounded");
        int slot = (int)(id & (SortChunk.Entries - 1));
        _tags[slot] = tag;
        _lengths[slot] = value.Length;
        value.CopyTo(_values.AsSpan(slot * MaxTextBytes, MaxTextBytes));
    }

    private void Load(long number)
    {
        Debug.Assert(_chunk < 0 && !_isBlock, "2: the previous chunk is written");
        _chunk = number;
        Array.Clear(_tags);
        Span<byte> key = stackalloc byte[EntryKey.Bytes];
        EntryKey.Write(key, _chunk);
        if (!_column.TryGet(key, out ReadOnlySpan<byte> bytes))
            return;

        var old = new SortChunk(bytes);
        Span<byte> room = stackalloc byte[NumberKey.Bytes];
        for (int slot = 0; slot < old.Count; slot++)
        {
            _tags[slot] = old.TagAt(slot);
            Span<byte> value = _values.AsSpan(slot * MaxTextBytes, MaxTextBytes);
            switch (_tags[slot])
            {
                case SortTag.Number:
                    old.NumberAt(slot, room).CopyTo(value);
                    _lengths[slot] = NumberKey.Bytes;
                    break;
                case SortTag.Text:
                    old.TextHeadAt(slot).CopyTo(value);
                    old.TextRestAt(slot).CopyTo(value[SortChunk.HeadBytes..]);
                    _lengths[slot] = old.TextLengthAt(slot);
                    break;
            }
        }
    }

    private int Encode()
    {
        int count = Array.FindLastIndex(_tags, tag => tag != SortTag.None) + 1;
        if (count == 0)
            return 0;

        if (TryPack(count, out int packed) || TryPackTexts(count, out packed))
            return packed;
        _output[0] = (byte)count;
        int textStart = 1 + (count * SortChunk.SlotBytes);
        int texts = 0;
        for (int i = 0; i < count; i++)
        {
            Span<byte> slot = _output.AsSpan(1 + (i * SortChunk.SlotBytes), SortChunk.SlotBytes);
            ReadOnlySpan<byte> value = _values.AsSpan(i * MaxTextBytes, _lengths[i]);
            slot.Clear();
            slot[0] = (byte)_tags[i];
            if (_tags[i] == SortTag.Number)
            {
                value.CopyTo(slot[1..]);
            }
            else if (_tags[i] == SortTag.Text)
            {
                int head = Math.Min(SortChunk.HeadBytes, value.Length);
                value[..head].CopyTo(slot[1..]);
                BinaryPrimitives.WriteUInt16LittleEndian(slot[9..], (ushort)value.Length);
                BinaryPrimitives.WriteUInt16LittleEndian(slot[11..], (ushort)texts);
                value[head..].CopyTo(_output.AsSpan(textStart + texts));
                texts += value.Length - head;
            }
        }

        return textStart + texts;
    }

    /// <summary>
    /// Encodes a chunk of whole numbers close to each other; false if it has other values or would not be shorter.
    /// </summary>
    private bool TryPack(int count, out int length)
    {
        Debug.Assert(count is > 0 and <= SortChunk.Entries, "a chunk has entries");
        long least = long.MaxValue, greatest = long.MinValue;
        ulong present = 0;
        length = 0;
        for (int i = 0; i < count; i++)
        {
            if (_tags[i] == SortTag.None)
                continue;
            if (_tags[i] != SortTag.Number
                || !NumberKey.TryToLong(NumberOf(i), out long value)
                || value is < -SortChunk.MaxPacked or > SortChunk.MaxPacked)
                return false;
            least = Math.Min(least, value);
            greatest = Math.Max(greatest, value);
            present |= 1UL << i;
        }

        Debug.Assert(present != 0 && greatest >= least, "a chunk that is written has a value");
        int width = 64 - BitOperations.LeadingZeroCount((ulong)(greatest - least));
        length = SortChunk.PackedHeaderBytes + ((count - 1) * width >> 3) + sizeof(ulong);
        if (width > SortChunk.MaxPackedBits || length >= 1 + (count * SortChunk.SlotBytes))
            return false;

        _output.AsSpan(0, length).Clear();
        _output[0] = (byte)(count | SortChunk.PackedFlag);
        _output[1] = (byte)width;
        BinaryPrimitives.WriteInt64LittleEndian(_output.AsSpan(2), least);
        BinaryPrimitives.WriteUInt64LittleEndian(_output.AsSpan(10), present);
        for (int i = 0; i < count; i++)
        {
            if (_tags[i] == SortTag.None || !NumberKey.TryToLong(NumberOf(i), out long value))
                continue;
            int bit = i * width;
            Span<byte> place = _output.AsSpan(SortChunk.PackedHeaderBytes + (bit >> 3));
            BinaryPrimitives.WriteUInt64LittleEndian(
                place, BinaryPrimitives.ReadUInt64LittleEndian(place) | ((ulong)(value - least) << (bit & 7)));
        }

        return true;
    }

    /// <summary>
    /// Encodes a chunk of texts, each distinct text once; false if it has other values or would not be shorter.
    /// </summary>
    private bool TryPackTexts(int count, out int length)
    {
        Debug.Assert(count is > 0 and <= SortChunk.Entries, "a chunk has entries");
        length = 0;
        int different = 0;
        int plain = 1 + (count * SortChunk.SlotBytes);
        int texts = 0;
        for (int i = 0; i < count; i++)
        {
            if (_tags[i] == SortTag.Number)
                return false;
            if (_tags[i] == SortTag.None)
                continue;
            ReadOnlySpan<byte> value = TextOf(i);
            int place = 0;
            while (place < different && !TextOf(_firsts[place]).SequenceEqual(value))
                place++;
            _places[i] = (byte)place;
            plain += Math.Max(0, value.Length - SortChunk.HeadBytes);
            if (place < different)
                continue;
            _firsts[different++] = i;
            texts += value.Length;
        }

        Debug.Assert(different is > 0 and <= SortChunk.Entries, "a chunk that is written has a text");
        int bits = SortChunk.PlaceBits(different);
        int endBytes = texts <= byte.MaxValue ? 1 : sizeof(ushort);
        int placesStart = SortChunk.TextsHeaderBytes + (different * endBytes);
        int start = placesStart + SortChunk.PlaceBytes(count, bits);
        length = start + texts + SortChunk.HeadBytes;
        if (texts > ushort.MaxValue || length >= plain)
            return false;

        _output.AsSpan(0, length).Clear();
        _output[0] = (byte)(count | SortChunk.PackedFlag);
        _output[1] = SortChunk.TextMark;
        _output[2] = (byte)different;
        _output[3] = (byte)(bits | (endBytes > 1 ? SortChunk.WideFlag : 0));
        int end = 0;
        for (int place = 0; place < different; place++)
        {
            ReadOnlySpan<byte> value = TextOf(_firsts[place]);
            value.CopyTo(_output.AsSpan(start + end));
            end += value.Length;
            if (endBytes == 1)
                _output[SortChunk.TextsHeaderBytes + place] = (byte)end;
            else
                BinaryPrimitives.WriteUInt16LittleEndian(_output.AsSpan(SortChunk.TextsHeaderBytes + (2 * place)), (ushort)end);
        }

        for (int i = 0; i < count; i++)
        {
            int bit = i * bits;
            int place = _tags[i] == SortTag.None ? different : _places[i];
            _output[placesStart + (bit >> 3)] |= (byte)(place << (bit & 7));
            if ((bit & 7) + bits > 8)
                _output[placesStart + (bit >> 3) + 1] |= (byte)(place >> (8 - (bit & 7)));
        }

        return true;
    }

    private ReadOnlySpan<byte> TextOf(int slot) => _values.AsSpan(slot * MaxTextBytes, _lengths[slot]);

    private ReadOnlySpan<byte> NumberOf(int slot) => _values.AsSpan(slot * MaxTextBytes, NumberKey.Bytes);
}
