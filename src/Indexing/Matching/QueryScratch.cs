using System.Buffers;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Ranking;

namespace Treepie.Indexing.Matching;

/// <summary>
/// What a running query works with and needs no longer when it ends: window sets, arrays, the lists of what is to be closed. It
/// stays with its view, so that the next query finds it warm and makes no garbage. One query at a time.
/// </summary>
internal sealed class QueryScratch
{
    /// <summary>Window sets that are kept: most queries have two or three, and each is 1 KiB.</summary>
    private const int MaxKeptSets = 8;

    /// <summary>Other things that are kept.</summary>
    private const int MaxKept = 16;

    private readonly List<WindowSet> made = [];
    private readonly List<WindowSet> free = [];
    private readonly List<IDisposable> cursors = [];
    private readonly Rented<ushort> offsets = new();
    private readonly Rented<float> numbers = new();
    private readonly Rented<ulong> words = new();
    private readonly Rented<byte> bytes = new();
    private readonly Rented<int> places = new();
    private readonly Rented<Posting> postings = new();
    private readonly List<IReusable> inUse = [];
    private readonly List<IReusable> kept = [];
    private readonly List<(int Field, LengthFactors Factors)> factors = [];

    /// <summary>Factors of the fields that the query scores.</summary>
    public List<(int Field, LengthFactors Factors)> Factors => factors;

    /// <summary>Takes an empty set; give it back with <see cref="Return"/>.</summary>
    public WindowSet RentSet()
    {
        WindowSet set;
        if (free.Count > 0)
        {
            set = free[^1];
            free.RemoveAt(free.Count - 1);
        }
        else
        {
            made.Add(set = new WindowSet());
        }

        set.SetEmpty();
        return set;
    }

    public void Return(WindowSet set) => free.Add(set);

    public ushort[] RentOffsets(int count) => offsets.Take(count);

    public float[] RentNumbers(int count) => numbers.Take(count);

    public ulong[] RentWords(int count) => words.Take(count);

    public byte[] RentBytes(int count) => bytes.Take(count);

    public int[] RentPlaces(int count) => places.Take(count);

    public Posting[] RentPostings(int count) => postings.Take(count);

    /// <summary>One of a kind, empty, until the query ends.</summary>
    public T Rent<T>()
        where T : class, IReusable, new()
    {
        for (int i = 0; i < kept.Count; i++)
        {
            if (kept[i] is not T found)
                continue;
            kept[i] = kept[^1];
            kept.RemoveAt(kept.Count - 1);
            inUse.Add(found);
            return found;
        }

        var made = new T();
        inUse.Add(made);
        return made;
    }

    /// <summary>Closes it when the query ends.</summary>
    public void Own(IDisposable cursor) => cursors.Add(cursor);

    /// <summary>Has all cursors forget where bytes of pages lie.</summary>
    public void ForgetPages()
    {
        foreach (IDisposable cursor in cursors)
            (cursor as IHoldsPages)?.ForgetPages();
        foreach ((_, LengthFactors lengths) in factors)
            lengths.ForgetPages();
    }

    /// <summary>What the query counts.</summary>
    public QueryMeter Meter { get; } = new();

    /// <summary>Ends the query: closes what it opened, and gives back what it took.</summary>
    /// <param name="keepsFactors">Whether factors are those of the view alone, so that the next query has them, too.</param>
    public void End(bool keepsFactors)
    {
        foreach (IDisposable cursor in cursors)
            cursor.Dispose();
        cursors.Clear();
        offsets.GiveBack();
        numbers.GiveBack();
        words.GiveBack();
        bytes.GiveBack();
        places.GiveBack();
        postings.GiveBack();
        if (!keepsFactors)
            factors.Clear();
        foreach ((_, LengthFactors lengths) in factors)
            lengths.Reset();
        foreach (IReusable used in inUse)
        {
            used.Clear();
            if (kept.Count < MaxKept)
                kept.Add(used);
        }

        inUse.Clear();
        if (made.Count > MaxKeptSets)
            made.RemoveRange(MaxKeptSets, made.Count - MaxKeptSets);
        free.Clear();
        free.AddRange(made);
    }

    /// <summary>Arrays of the process's pool that one query has.</summary>
    private sealed class Rented<T>
    {
        private readonly List<T[]> arrays = [];

        public T[] Take(int count)
        {
            T[] array = ArrayPool<T>.Shared.Rent(count);
            arrays.Add(array);
            return array;
        }

        public void GiveBack()
        {
            foreach (T[] array in arrays)
                ArrayPool<T>.Shared.Return(array);
            arrays.Clear();
        }
    }
}
