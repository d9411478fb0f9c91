namespace Treepie.Bench.Suites.Search;

/// <summary>An engine that answers questions, one after the other.</summary>
internal interface ISearchEngine : IDisposable
{
    /// <summary>Its name in the report.</summary>
    string Name { get; }

    /// <summary>Whether it is asked in rounds, or once.</summary>
    bool HasRounds { get; }

    /// <summary>Answers all questions; null for one that it cannot answer.</summary>
    SearchAnswer?[] Ask(IReadOnlyList<SearchQuestion> questions);
}
