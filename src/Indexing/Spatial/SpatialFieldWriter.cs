using Treepie.Indexing.Catalogue;
using Treepie.Storage;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;

namespace Treepie.Indexing.Spatial;

/// <summary>
/// Changes one spatial field in one write transaction: removes the values of entries from all its trees and adds others,
/// each tree in key order. The values to remove are read from the trees themselves, so nothing is left behind.
/// </summary>
internal sealed class SpatialFieldWriter(WriteTransaction transaction, int field)
{
    private readonly Tree _shapes = transaction.GetOrCreateTree(TreeNames.Shapes(field));
    private readonly Tree _cells = transaction.GetOrCreateTree(TreeNames.Cells(field));
    private readonly Tree _covers = transaction.GetOrCreateTree(TreeNames.Covers(field));
    private readonly PointColumnWriter _column = new(transaction.GetOrCreateTree(TreeNames.Points(field)));
    private readonly List<(ulong Cell, long Id, bool IsCentre)> _cellChanges = [];
    private readonly List<CellSquare> _squares = [];

    /// <summary>Removes the values of ascending entries; entries without a value are skipped.</summary>
    public void Remove(IEnumerable<long> ids)
    {
        foreach (long id in ids)
        {
            if (_column.Remove(id, out GridPoint point))
                _cellChanges.Add((point.Cell, id, false));
            else
                RemoveShapes(id);
        }

        _column.Flush();
        Span<byte> key = stackalloc byte[SpatialKey.CellBytes];
        _cellChanges.Sort();
        foreach ((ulong cell, long id, _) in _cellChanges)
            _cells.Delete(SpatialKey.WriteCell(key, cell, id));
        _cellChanges.Clear();
    }

    /// <summary>Adds the single point of an entry; entries come in ascending order.</summary>
    public void AddPoint(long id, GridPoint point)
    {
        _column.SetPoint(id, point);
        _cellChanges.Add((point.Cell, id, false));
    }

    /// <summary>
    /// Adds an entry with a shape or several values; entries come in ascending order. See <see cref="GeometryRecord"/>.
    /// </summary>
    public void AddShapes(long id, ReadOnlySpan<byte> record)
    {
        _column.SetShapes(id);
        Span<byte> key = stackalloc byte[SpatialKey.CoverBytes];
        _shapes.Put(EntryOf(key, id), record);
        while (!record.IsEmpty)
        {
            _squares.Clear();
            Geometry? shape = GeometryRecord.Read(ref record, out GridPoint point, _squares);
            _cellChanges.Add((shape is null ? point.Cell : GridPoint.Of(shape.Centre).Cell, id, shape is not null));
            foreach (CellSquare square in _squares)
                _covers.Put(SpatialKey.WriteCover(key, square, id), default);
        }
    }

    /// <summary>Writes all remaining additions.</summary>
    public void Flush()
    {
        _column.Flush();
        Span<byte> key = stackalloc byte[SpatialKey.CellBytes];

        // A point sorts after a centre with the same cell and entry, so that the point remains.
        _cellChanges.Sort(
            static (x, y) => x.Cell != y.Cell
                ? x.Cell.CompareTo(y.Cell)
                : x.Id != y.Id ? x.Id.CompareTo(y.Id) : y.IsCentre.CompareTo(x.IsCentre));
        foreach ((ulong cell, long id, bool isCentre) in _cellChanges)
            _cells.Put(SpatialKey.WriteCell(key, cell, id), isCentre ? [1] : default);
        _cellChanges.Clear();
    }

    private void RemoveShapes(long id)
    {
        Span<byte> key = stackalloc byte[SpatialKey.CoverBytes];
        if (!_shapes.TryGet(EntryOf(key, id), out ReadOnlySpan<byte> stored))
            return;

        // Copied, because the changes below may move the page of the record.
        ReadOnlySpan<byte> record = stored.ToArray();
        _shapes.Delete(EntryOf(key, id));
        var gone = new HashSet<CellSquare>(); // shapes of one entry may share a square, which is stored once
        while (!record.IsEmpty)
        {
            _squares.Clear();
            Geometry? shape = GeometryRecord.Read(ref record, out GridPoint point, _squares);
            _cellChanges.Add((shape is null ? point.Cell : GridPoint.Of(shape.Centre).Cell, id, false));
            foreach (CellSquare square in _squares)
            {
                if (gone.Add(square) && !_covers.Delete(SpatialKey.WriteCover(key, square, id)))
                    throw new CorruptionException(
                        $"The index tree '{_covers.Name}' misses a square of entry {id}. Reset the index to build it again.");
            }
        }
    }

    private static ReadOnlySpan<byte> EntryOf(Span<byte> key, long id)
    {
        EntryKey.Write(key, id);
        return key[..EntryKey.Bytes];
    }
}
