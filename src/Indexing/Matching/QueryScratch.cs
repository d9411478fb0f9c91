using System.Buffers;
using System.Diagnostics;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Ranking;

namespace Treepie.Indexing.Matching;

/// <summary>
/// Temporary state of a running query: window sets, arrays and cursors to close. Kept with its view, so that the next query
/// reuses it without allocating. One query at a time.
/// </summary>
internal sealed class QueryScratch
{
    /// <summary>Number of window sets kept: most queries need two or three, and each takes 1 KiB.</summary>
    private const int MaxKeptSets = 8;

    /// <summary>Number of other objects kept.</summary>
    private const int MaxKept = 16;

    private readonly List<WindowSet> _made = [];
    private readonly List<WindowSet> _free = [];
    private readonly List<IDisposable> _cursors = [];
    private readonly Rented<ushort> _offsets = new();
    private readonly Rented<float> _numbers = new();
    private readonly Rented<ulong> _words = new();
    private readonly Rented<byte> _bytes = new();
    private readonly Rented<int> _places = new();
    private readonly Rented<Posting> _postings = new();
    private readonly List<IReusable> _inUse = [];
    private readonly List<IReusable> _kept = [];
    private readonly List<(int Field, LengthFactors Factors)> _factors = [];

    /// <summary>Length factors of the fields that the query scores.</summary>
    public List<(int Field, LengthFactors Factors)> Factors => _factors;

    /// <summary>Takes an empty set. Return it with <see cref="Return"/>.</summary>
    public WindowSet RentSet()
    {
        Debug.Assert(_free.Count <= _made.Count, "a set is returned once");
        WindowSet set;
        if (_free.Count > 0)
        {
            set = _free[^1];
            _free.RemoveAt(_free.Count - 1);
        }
        else
        {
            _made.Add(set = new WindowSet());
        }

        set.SetEmpty();
        return set;
    }

    public void Return(WindowSet set) => _free.Add(set);

    public ushort[] RentOffsets(int count) => _offsets.Take(count);

    public float[] RentNumbers(int count) => _numbers.Take(count);

    public ulong[] RentWords(int count) => _words.Take(count);

    public byte[] RentBytes(int count) => _bytes.Take(count);

    public int[] RentPlaces(int count) => _places.Take(count);

    public Posting[] RentPostings(int count) => _postings.Take(count);

    /// <summary>Rents an empty reusable object until the query ends.</summary>
    public T Rent<T>()
        where T : class, IReusable, new()
    {
        for (int i = 0; i < _kept.Count; i++)
        {
            if (_kept[i] is not T found)
                continue;
            _kept[i] = _kept[^1];
            _kept.RemoveAt(_kept.Count - 1);
            _inUse.Add(found);
            return found;
        }

        var made = new T();
        _inUse.Add(made);
        return made;
    }

    /// <summary>Takes ownership of a cursor, which is disposed when the query ends.</summary>
    public void Own(IDisposable cursor) => _cursors.Add(cursor);

    /// <summary>Makes all cursors forget the addresses of pages.</summary>
    public void ForgetPages()
    {
        foreach (IDisposable cursor in _cursors)
            (cursor as IHoldsPages)?.ForgetPages();
        foreach ((_, LengthFactors lengths) in _factors)
            lengths.ForgetPages();
    }

    /// <summary>Counters of the query.</summary>
    public QueryMeter Meter { get; } = new();

    /// <summary>Ends the query: closes its cursors and returns what it rented.</summary>
    /// <param name="keepsFactors">Whether the factors are those of the view alone and may be kept for the next
    /// query.</param>
    public void End(bool keepsFactors)
    {
        foreach (IDisposable cursor in _cursors)
            cursor.Dispose();
        _cursors.Clear();
        _offsets.GiveBack();
        _numbers.GiveBack();
        _words.GiveBack();
        _bytes.GiveBack();
        _places.GiveBack();
        _postings.GiveBack();
        if (!keepsFactors)
            _factors.Clear();
        foreach ((_, LengthFactors lengths) in _factors)
            lengths.Reset();
        foreach (IReusable used in _inUse)
        {
            used.Clear();
            if (_kept.Count < MaxKept)
                _kept.Add(used);
        }

        _inUse.Clear();
        if (_made.Count > MaxKeptSets)
            _made.RemoveRange(MaxKeptSets, _made.Count - MaxKeptSets);
        _free.Clear();
        _free.AddRange(_made);
    }

    /// <summary>Arrays that one query has rented from the shared pool.</summary>
    private sealed class Rented<T>
    {
        private readonly List<T[]> _arrays = [];

        public T[] Take(int count)
        {
            T[] array = ArrayPool<T>.Shared.Rent(count);
            _arrays.Add(array);
            return array;
        }

        public void GiveBack()
        {
            foreach (T[] array in _arrays)
                ArrayPool<T>.Shared.Return(array);
            _arrays.Clear();
        }
    }
}
