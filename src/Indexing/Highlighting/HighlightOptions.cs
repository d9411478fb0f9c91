namespace Treepie.Indexing.Highlighting;

/// <summary>Options of highlighting.</summary>
public sealed record HighlightOptions
{
    /// <summary>
    /// The default opening tags: a colour for each condition, then from the first again.
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

    /// <summary>The minimum of <see cref="FragmentLength"/>.</summary>
    public const int MinFragmentLength = 18;

    /// <summary>The maximum length of a fragment in characters.</summary>
    public int FragmentLength { get; init; } = 128;

    /// <summary>The maximum number of fragments per entry.</summary>
    public int FragmentCount { get; init; } = 2;

    /// <summary>The tags before a matched word; used in turn for the conditions.</summary>
    public IReadOnlyList<string> PreTags { get; init; } = DefaultPreTags;

    /// <summary>The tags after a matched word; used in turn for the conditions.</summary>
    public IReadOnlyList<string> PostTags { get; init; } = ["</b>"];
}
