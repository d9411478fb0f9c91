using Treepie.Indexing.Postings;
using Treepie.Indexing.Queries;

namespace Treepie.Indexing.Matching;

/// <summary>
/// Finds the entries of an <see cref="IntersectQuery"/>. The entries of an owner follow one another, so one pass over the matches
/// of all clauses, in the order of entries, tells which owners every clause matches; only the entries of one owner are kept at a
/// time. The key of each match is read.
/// </summary>
internal sealed class SharedOwners
{
    private readonly QueryContext _context;
    private readonly Operator[] _clauses;
    private readonly WindowSet[] _sets;
    private readonly bool[] _isMatched; // of the current owner, by clause
    private readonly List<long> _found = [];
    private byte[] _owner = [];
    private int _ownerLength = -1;
    private int _firstOfOwner;

    private SharedOwners(QueryContext context, Operator[] clauses)
    {
        (_context, _clauses) = (context, clauses);
        _sets = [.. clauses.Select(_ => context.Rent())];
        _isMatched = new bool[clauses.Length];
    }

    /// <summary>Returns the ids of the entries, ascending.</summary>
    public static long[] Find(QueryContext context, Operator[] clauses) => new SharedOwners(context, clauses).Find();

    private long[] Find()
    {
        WindowSet any = _context.Rent();
        ushort[] offsets = _context.RentOffsets();
        for (long window = NextOfAny(0); window != Operator.End; window = NextOfAny(window + 1))
        {
            _context.Check();
            any.SetEmpty();
            for (int i = 0; i < _clauses.Length; i++)
            {
                if (_clauses[i].Next(window) == window)
                    _clauses[i].Fill(window, _sets[i]);
                else
                    _sets[i].SetEmpty();
                any.Combine(SetOperation.Or, _sets[i]);
            }

            int count = any.CopyTo(offsets);
            _context.Meter.Count.EntriesScanned += count;
            for (int i = 0; i < count; i++)
                Add(window, offsets[i]);
        }

        EndOwner();
        foreach (WindowSet set in _sets)
            _context.Return(set);
        _context.Return(any);
        return [.. _found];
    }

    private long NextOfAny(long from)
    {
        long next = Operator.End;
        foreach (Operator clause in _clauses)
            if (clause.Next(from) is var window && window != Operator.End && (next == Operator.End || window < next))
                next = window;
        return next;
    }

    private void Add(long window, ushort offset)
    {
        long id = (window << PostingWindow.SizeBits) + offset;
        ReadOnlySpan<byte> owner = KeyLookup.TextOf(_context.View.Entries.Get(id).Key);
        if (_ownerLength < 0 || !owner.SequenceEqual(_owner.AsSpan(0, _ownerLength)))
        {
            EndOwner();
            if (_owner.Length < owner.Length)
                _owner = new byte[owner.Length * 2];
            owner.CopyTo(_owner);
            _ownerLength = owner.Length;
        }

        _found.Add(id);
        for (int i = 0; i < _sets.Length; i++)
            _isMatched[i] |= _sets[i].Contains(offset);
    }

    /// <summary>Keeps the entries of the current owner if each clause matches one of them.</summary>
    private void EndOwner()
    {
        if (Array.Exists(_isMatched, static isMatched => !isMatched))
            _found.RemoveRange(_firstOfOwner, _found.Count - _firstOfOwner);
        _firstOfOwner = _found.Count;
        Array.Clear(_isMatched);
    }
}
