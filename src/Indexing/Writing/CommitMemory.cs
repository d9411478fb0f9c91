using Treepie.Indexing.Columns;
using Treepie.Indexing.Postings;
using Treepie.Indexing.Terms;

namespace Treepie.Indexing.Writing;

/// <summary>
/// What commits of one index need beside their batch, kept from one to the next: a commit then makes next to no garbage, whose
/// collection would stop those who ask meanwhile. Of one commit at a time.
/// </summary>
internal sealed class CommitMemory
{
    /// <summary>Words that so many entries have, or more, count as equally frequent.</summary>
    public const int CountClasses = 4_096;

    /// <summary>By full-text field: the numbers of the words of the batch, by their ordinals.</summary>
    private readonly Dictionary<int, long[]> words = [];
    private long[] ids = [];
    private Posting[] postings = [];
    private long[] gone = [];
    private long[] nextWords = [];
    private int[] lengths = [];
    private byte[] impacts = [];

    /// <summary>What leaves the index.</summary>
    public RemovalSet Removals { get; } = new();

    /// <summary>Merges what dictionaries get and lose.</summary>
    public DictionaryMerge Merge { get; } = new();

    /// <summary>Keeps the texts of numbers where they are needed.</summary>
    public NumberTexts NumberTexts { get; } = new();

    /// <summary>Scratch of dictionaries.</summary>
    public PostingMemory Dictionaries { get; } = new();

    /// <summary>Changes keys.</summary>
    public TermTreeWriter Keys { get; } = new();

    /// <summary>Changes values that are sorted by.</summary>
    public SortColumnWriter SortValues => field ??= new SortColumnWriter();

    /// <summary>Changes lengths of texts.</summary>
    public NormColumnWriter Norms => field ??= new NormColumnWriter();

    /// <summary>Makes records out of those of the batch.</summary>
    public RecordEncoder Records => field ??= new RecordEncoder(words);

    /// <summary>Ids of entries by their places in the batch.</summary>
    public Span<long> Ids(int count) => Room(ref ids, count);

    /// <summary>Room for postings of a list.</summary>
    public Span<Posting> Postings(int count) => Room(ref postings, count);

    /// <summary>Room for entries that leave a list.</summary>
    public Span<long> Gone(int count) => Room(ref gone, count);

    /// <summary>Room for the next number of a word by how often it is: all 0.</summary>
    public Span<long> NextWords()
    {
        Span<long> next = Room(ref nextWords, CountClasses);
        next.Clear();
        return next;
    }

    /// <summary>
    /// Lengths of the new entries in a full-text field, and their impacts where a word stands in them once: all 0.
    /// </summary>
    public (int[] Lengths, byte[] Impacts) Lengths(int count)
    {
        Room(ref lengths, count).Clear();
        Room(ref impacts, count).Clear();
        return (lengths, impacts);
    }

    /// <summary>Room for the numbers of the words of a field.</summary>
    public Span<long> Words(int field, int count)
    {
        long[] numbers = words.GetValueOrDefault(field, []);
        TermTable.GrowTo(ref numbers, count);
        words[field] = numbers;
        return numbers.AsSpan(0, count);
    }

    private static Span<T> Room<T>(ref T[] array, int count)
    {
        TermTable.GrowTo(ref array, count);
        return array.AsSpan(0, count);
    }
}
