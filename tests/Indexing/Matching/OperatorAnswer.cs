using Treepie.Indexing.Matching;
using Treepie.Indexing.Postings;

namespace Treepie.Indexing.Tests.Matching;

/// <summary>
/// What an operator matches and scores, found window by window in ascending order with a fresh operator: the answer that all its
/// methods must agree with.
/// </summary>
internal sealed class OperatorAnswer
{
    private static readonly Window _nothing = new([], []);

    private readonly Dictionary<long, Window> _windows = [];

    /// <summary>Windows with matches, ascending.</summary>
    public List<long> Windows { get; } = [];

    public static OperatorAnswer Of(QueryContext context, Operator root)
    {
        var answer = new OperatorAnswer();
        WindowSet set = context.Rent();
        ushort[] offsets = new ushort[PostingWindow.Size];
        for (long window = root.Next(0); window != Operator.End; window = root.Next(window + 1))
        {
            root.Fill(window, set);
            int count = set.CopyTo(offsets);
            if (count == 0)
                continue;
            float[] scores = new float[count];
            root.Score(window, offsets.AsSpan(0, count), scores, 1, allMatch: true);
            answer._windows.Add(window, new Window(offsets[..count], scores));
            answer.Windows.Add(window);
        }

        context.Return(set);
        return answer;
    }

    public bool Matches(long window, ushort offset) => Matches(window).AsSpan().BinarySearch(offset) >= 0;

    /// <summary>Offsets of the matches of a window, ascending.</summary>
    public ushort[] Matches(long window) => Of(window).Offsets;

    /// <summary>The scores of the matches of a window.</summary>
    public float[] Scores(long window) => Of(window).Scores;

    /// <summary>The score of a match.</summary>
    public float Score(long window, ushort offset) => Scores(window)[Matches(window).AsSpan().BinarySearch(offset)];

    /// <summary>Offsets of the matches of a window that score at least a threshold.</summary>
    public IEnumerable<ushort> Reaching(long window, float threshold) =>
        Matches(window).Where((_, i) => Scores(window)[i] >= threshold);

    /// <summary>The greatest score of each block of 64 entries; negative infinity without matches.</summary>
    public float[] Most(long window) => Of(window).Most;

    private Window Of(long window) => _windows.GetValueOrDefault(window, _nothing);

    private sealed class Window
    {
        public Window(ushort[] offsets, float[] scores)
        {
            (Offsets, Scores) = (offsets, scores);
            Array.Fill(Most, float.NegativeInfinity);
            for (int i = 0; i < offsets.Length; i++)
            {
                ref float most = ref Most[offsets[i] >> PostingWindow.BlockBits];
                most = Math.Max(most, scores[i]);
            }
        }

        public ushort[] Offsets { get; }

        public float[] Scores { get; }

        public float[] Most { get; } = new float[PostingWindow.Blocks];
    }
}
