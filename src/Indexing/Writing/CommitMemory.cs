using Treepie.Indexing.Columns;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Writing;

/// <summary>
/// Buffers and writers that the commits of one index reuse, so that a commit allocates almost nothing: collecting the
/// garbage would pause concurrent queries. Used by one commit at a time.
/// </summary>
internal sealed class CommitMemory
{
    /// <summary>Words that occur in this many entries or more count as equally frequent.</summary>
    public const int CountClasses = 4_096;

    /// <summary>Per full-text field: the numbers of the batch's words by ordinal.</summary>
    private readonly Dictionary<int, long[]> _words = [];
    private long[] _ids = [];
    private Posting[] _postings = [];
    private long[] _gone = [];
    private long[] _nextWords = [];
    private int[] _lengths = [];
    private byte[] _impacts = [];

    /// <summary>Collects removals.</summary>
    public RemovalSet Removals { get; } = new();

    /// <summary>Merges additions and removals of dictionaries.</summary>
    public DictionaryMerge Merge { get; } = new();

    /// <summary>Stores the texts of numbers where needed.</summary>
    public NumberTexts NumberTexts { get; } = new();

    /// <summary>Buffers for dictionaries.</summary>
    public PostingMemory Dictionaries { get; } = new();

    /// <summary>Changes keys.</summary>
    public TermTreeWriter Keys { get; } = new();

    /// <summary>Changes sort values.</summary>
    public SortColumnWriter SortValues => field ??= new SortColumnWriter();

    /// <summary>Changes the lengths of texts.</summary>
    public NormColumnWriter Norms => field ??= new NormColumnWriter();

    /// <summary>Encodes the records of the batch.</summary>
    public RecordEncoder Records => field ??= new RecordEncoder(_words);

    /// <summary>Entry ids by place in the batch.</summary>
    public Span<long> Ids(int count) => Room(ref _ids, count);

    /// <summary>Buffer for postings of a list.</summary>
    public Span<Posting> Postings(int count) => Room(ref _postings, count);

    /// <summary>Buffer for entries to remove from a list.</summary>
    public Span<long> Gone(int count) => Room(ref _gone, count);

    /// <summary>Buffer for the next word number of each frequency class, filled with 0.</summary>
    public Span<long> NextWords()
    {
        Span<long> next = Room(ref _nextWords, CountClasses);
        next.Clear();
        return next;
    }

    /// <summary>
    /// Buffers for the lengths of new entries in a full-text field and for their impacts at frequency 1, filled with 0.
    /// </summary>
    public (int[] Lengths, byte[] Impacts) Lengths(int count)
    {
        Room(ref _lengths, count).Clear();
        Room(ref _impacts, count).Clear();
        return (_lengths, _impacts);
    }

    /// <summary>Buffer for the word numbers of a field.</summary>
    public Span<long> Words(int field, int count)
    {
        long[] numbers = _words.GetValueOrDefault(field, []);
        TermTable.GrowTo(ref numbers, count);
        _words[field] = numbers;
        return numbers.AsSpan(0, count);
    }

    private static Span<T> Room<T>(ref T[] array, int count)
    {
        TermTable.GrowTo(ref array, count);
        return array.AsSpan(0, count);
    }
}
