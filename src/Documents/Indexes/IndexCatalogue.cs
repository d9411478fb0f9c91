namespace Treepie.Indexes;

/// <summary>The indexes of a database. Thread-safe.</summary>
public sealed class IndexCatalogue
{
    internal IndexCatalogue()
    {
    }

    /// <summary>State of every index, by name.</summary>
    public IReadOnlyList<IndexStatistics> List() => throw new NotImplementedException();

    /// <summary>Waits until every index (or the named ones) has indexed all that was committed before the call; false at the timeout.</summary>
    public Task<bool> WaitForNonStaleAsync(TimeSpan timeout, IReadOnlyList<string>? indexNames = null, CancellationToken cancellationToken = default) =>
        throw new NotImplementedException();

    /// <summary>Deletes an index with its files; false if there is none.</summary>
    public bool Delete(string name) => throw new NotImplementedException();

    /// <summary>Empties an index and builds it again.</summary>
    /// <exception cref="IndexNotFoundException">There is none of that name.</exception>
    public void Reset(string name) => throw new NotImplementedException();
}
