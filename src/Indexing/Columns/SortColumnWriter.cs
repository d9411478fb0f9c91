using System.Buffers.Binary;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Columns;

/// <summary>
/// Changes sort values of one field. Entries come in ascending order; a chunk is read and written once. Lives for one
/// write transaction; <see cref="Flush"/> ends it.
/// </summary>
internal sealed class SortColumnWriter(Tree column)
{
    private const int MaxTextBytes = 1024;

    private readonly SortTag[] tags = new SortTag[SortChunk.Entries];
    private readonly byte[] values = new byte[SortChunk.Entries * MaxTextBytes];
    private readonly int[] lengths = new int[SortChunk.Entries];
    private readonly byte[] output = new byte[1 + (SortChunk.Entries * (SortChunk.SlotBytes + MaxTextBytes))];
    private long chunk = -1;

    public void SetNumber(long id, ReadOnlySpan<byte> numberKey) => Set(id, SortTag.Number, numberKey);

    public void SetText(long id, ReadOnlySpan<byte> form) => Set(id, SortTag.Text, form);

    public void Remove(long id) => Set(id, SortTag.None, default);

    /// <summary>Writes the last chunk.</summary>
    public void Flush()
    {
        if (chunk < 0)
            return;

        Span<byte> key = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64BigEndian(key, chunk);
        int length = Encode();
        if (length == 0)
            column.Delete(key);
        else
            column.Put(key, output.AsSpan(0, length));
        chunk = -1;
    }

    private void Set(long id, SortTag tag, ReadOnlySpan<byte> value)
    {
        if (id >> SortChunk.EntryBits != chunk)
        {
            Flush();
            Load(id >> SortChunk.EntryBits);
        }

        int slot = (int)(id & (SortChunk.Entries - 1));
        tags[slot] = tag;
        lengths[slot] = value.Length;
        value.CopyTo(values.AsSpan(slot * MaxTextBytes, MaxTextBytes));
    }

    private void Load(long number)
    {
        chunk = number;
        Array.Clear(tags);
        Span<byte> key = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64BigEndian(key, chunk);
        if (!column.TryGet(key, out ReadOnlySpan<byte> bytes))
            return;

        var old = new SortChunk(bytes);
        for (int slot = 0; slot < old.Count; slot++)
        {
            tags[slot] = old.TagAt(slot);
            Span<byte> value = values.AsSpan(slot * MaxTextBytes, MaxTextBytes);
            switch (tags[slot])
            {
                case SortTag.Number:
                    old.NumberAt(slot).CopyTo(value);
                    lengths[slot] = old.NumberAt(slot).Length;
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
}
