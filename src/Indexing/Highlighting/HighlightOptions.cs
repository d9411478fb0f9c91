namespace Treepie.Indexing.Highlighting;

/// <summary>How found words are shown.</summary>
public sealed record HighlightOptions
{
    /// <summary>
    /// Tags that begin a found word where none are given: a colour for each condition, and from the first again.
    /// </summary>
    public static IReadOnlyList<string> DefaultPreTags { get; } =
    [
        .. new[]
        {
            "yellow", "lawngreen", "aquamarine", "magenta", "palegreen", "coral", "wheat", "khaki", "lime", "deepskyblue",
            "deeppink", "salmon", "peachpuff",
            "violet", "mediumpurple", "palegoldenrod", "darkkhaki", "springgreen", "turquoise", "powderblue",
        }.Select(colour => $"<b style=\"background:{colour}\">"),
    ];

    /// <summary>Shortest fragment that can be asked for.</summary>
    public const int MinFragmentLength = 18;

    /// <summary>Longest fragment, in characters.</summary>
    public int FragmentLength { get; init; } = 128;

    /// <summary>Most fragments of an entry.</summary>
    public int FragmentCount { get; init; } = 2;

    /// <summary>What stands before a found word; by condition, in turn.</summary>
    public IReadOnlyList<string> PreTags { get; init; } = DefaultPreTags;

    /// <summary>What stands behind a found word; by condition, in turn.</summary>
    public IReadOnlyList<string> PostTags { get; init; } = ["</b>"];
}
