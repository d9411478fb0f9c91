using System.Buffers.Binary;
using System.Numerics;
using Treepie.Indexing.Catalogue;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Spatial;

/// <summary>
/// Changes the places of one field. Entries come in ascending order; a chunk is read and written once. Used for one write
/// transaction, which <see cref="Flush"/> ends.
/// </summary>
internal sealed class PointColumnWriter(Tree column)
{
    private readonly uint[] xs = new uint[PointChunk.Entries];
    private readonly uint[] ys = new uint[PointChunk.Entries];
    private readonly byte[] output = new byte[PointChunk.MaxBytes];
    private ulong points;
    private ulong shapes;
    private long chunk = -1;

    public void SetPoint(long id, GridPoint point)
    {
        int slot = Clear(id);
        xs[slot] = point.X;
        ys[slot] = point.Y;
        points |= 1UL << slot;
    }

    public void SetShapes(long id)
    {
        int slot = Clear(id); // first, because it may load another chunk
        shapes |= 1UL << slot;
    }

    /// <summary>Removes an entry.</summary>
    /// <param name="id">The entry.</param>
    /// <param name="point">Its point, if that was its only value.</param>
    /// <returns>Whether it had one point.</returns>
    public bool Remove(long id, out GridPoint point)
    {
        Open(id);
        int slot = (int)(id & (PointChunk.Entries - 1));
        point = new GridPoint(xs[slot], ys[slot]);
        bool wasPoint = (points >> slot & 1) != 0;
        Clear(id);
        return wasPoint;
    }

    /// <summary>Writes the loaded chunk.</summary>
    public void Flush()
    {
        if (chunk < 0)
            return;

        Span<byte> key = stackalloc byte[EntryKey.Bytes];
        EntryKey.Write(key, chunk);
        int count = PointChunk.Entries - BitOperations.LeadingZeroCount(points | shapes);
        if (count == 0)
            column.Delete(key);
        else
            column.Put(key, output.AsSpan(0, Encode(count)));
        chunk = -1;
    }

    private int Clear(long id)
    {
        Open(id);
        int slot = (int)(id & (PointChunk.Entries - 1));
        points &= ~(1UL << slot);
        shapes &= ~(1UL << slot);
        xs[slot] = 0;
        ys[slot] = 0;
        return slot;
    }

    private void Open(long id)
    {
        long number = id >> PointChunk.EntryBits;
        if (number == chunk)
            return;

        Flush();
        chunk = number;
        Array.Clear(xs);
        Array.Clear(ys);
        Span<byte> key = stackalloc byte[EntryKey.Bytes];
        EntryKey.Write(key, chunk);
        var old = new PointChunk(column.TryGet(key, out ReadOnlySpan<byte> bytes) ? bytes : default);
        points = old.Points;
        shapes = old.Shapes;
        for (int slot = 0; slot < old.Count; slot++)
            (xs[slot], ys[slot]) = old[slot];
    }

    private int Encode(int count)
    {
        output[0] = (byte)count;
        BinaryPrimitives.WriteUInt64LittleEndian(output.AsSpan(1), points);
        BinaryPrimitives.WriteUInt64LittleEndian(output.AsSpan(9), shapes);
        for (int i = 0; i < count; i++)
        {
            BinaryPrimitives.WriteUInt32LittleEndian(output.AsSpan(PointChunk.HeadBytes + (i * sizeof(uint))), xs[i]);
            BinaryPrimitives.WriteUInt32LittleEndian(output.AsSpan(PointChunk.HeadBytes + ((count + i) * sizeof(uint))), ys[i]);
        }

        return PointChunk.HeadBytes + (count * 2 * sizeof(uint));
    }
}
