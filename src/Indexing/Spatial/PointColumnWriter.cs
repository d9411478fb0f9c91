using System.Buffers.Binary;
using System.Diagnostics;
using System.Numerics;
using Treepie.Indexing.Catalogue;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Spatial;

/// <summary>
/// Changes the points of one field. Entries come in ascending order, so a chunk is read and written once. Used for one write
/// transaction, at the end of which <see cref="Flush"/> must be called.
/// </summary>
internal sealed class PointColumnWriter(Tree column)
{
    private readonly uint[] _xs = new uint[PointChunk.Entries];
    private readonly uint[] _ys = new uint[PointChunk.Entries];
    private readonly byte[] _output = new byte[PointChunk.MaxBytes];
    private ulong _points;
    private ulong _shapes;
    private long _chunk = -1;

    public void SetPoint(long id, GridPoint point)
    {
        int slot = Clear(id);
        _xs[slot] = point.X;
        _ys[slot] = point.Y;
        _points |= 1UL << slot;
    }

    public void SetShapes(long id)
    {
        int slot = Clear(id); // first, because this may load another chunk
        _shapes |= 1UL << slot;
    }

    /// <summary>Removes an entry.</summary>
    /// <param name="id">The entry.</param>
    /// <param name="point">Its point, if that was its only value.</param>
    /// <returns>Whether its only value was a point.</returns>
    public bool Remove(long id, out GridPoint point)
    {
        Open(id);
        int slot = (int)(id & (PointChunk.Entries - 1));
        point = new GridPoint(_xs[slot], _ys[slot]);
        bool wasPoint = (_points >> slot & 1) != 0;
        Clear(id);
        return wasPoint;
    }

    /// <summary>Writes the loaded chunk.</summary>
    public void Flush()
    {
        if (_chunk < 0)
            return;

        Span<byte> key = stackalloc byte[EntryKey.Bytes];
        EntryKey.Write(key, _chunk);
        int count = PointChunk.Entries - BitOperations.LeadingZeroCount(_points | _shapes);
        if (count == 0)
            column.Delete(key);
        else
            column.Put(key, _output.AsSpan(0, Encode(count)));
        _chunk = -1;
    }

    private int Clear(long id)
    {
        Open(id);
        int slot = (int)(id & (PointChunk.Entries - 1));
        _points &= ~(1UL << slot);
        _shapes &= ~(1UL << slot);
        _xs[slot] = 0;
        _ys[slot] = 0;
        return slot;
    }

    private void Open(long id)
    {
        long number = id >> PointChunk.EntryBits;
        if (number == _chunk)
            return;

        Flush();
        _chunk = number;
        Array.Clear(_xs);
        Array.Clear(_ys);
        Span<byte> key = stackalloc byte[EntryKey.Bytes];
        EntryKey.Write(key, _chunk);
        var old = new PointChunk(column.TryGet(key, out ReadOnlySpan<byte> bytes) ? bytes : default);
        _points = old.Points;
        _shapes = old.Shapes;
        for (int slot = 0; slot < old.Count; slot++)
            (_xs[slot], _ys[slot]) = old[slot];
    }

    private int Encode(int count)
    {
        Debug.Assert(count is > 0 and <= PointChunk.Entries, "a chunk that is written has entries");
        _output[0] = (byte)count;
        BinaryPrimitives.WriteUInt64LittleEndian(_output.AsSpan(1), _points);
        BinaryPrimitives.WriteUInt64LittleEndian(_output.AsSpan(9), _shapes);
        for (int i = 0; i < count; i++)
        {
            BinaryPrimitives.WriteUInt32LittleEndian(_output.AsSpan(PointChunk.HeadBytes + (i * sizeof(uint))), _xs[i]);
            BinaryPrimitives.WriteUInt32LittleEndian(_output.AsSpan(PointChunk.HeadBytes + ((count + i) * sizeof(uint))), _ys[i]);
        }

        return PointChunk.HeadBytes + (count * 2 * sizeof(uint));
    }
}
