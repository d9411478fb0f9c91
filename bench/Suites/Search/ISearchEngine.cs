namespace Treepie.Bench.Suites.Search;

/// <summary>An engine that answers questions, one after the other.</summary>
internal interface ISearchEngine : IDisposable
{
    /// <summary>Its name in the report.</summary>
    string Name { get; }

    /// <summary>Whether it has a compiler that has to be warm.</summary>
    bool HasCompiler { get; }

    /// <summary>Answers all questions, again and again for so many milliseconds; null for one that it cannot answer.</summary>
    SearchAnswer?[] Ask(IReadOnlyList<SearchQuestion> questions, double milliseconds = 0);
}
