using Treepie.Store;

namespace Treepie.Queries.Sources;

/// <summary>Documents that answer a query, one at a time, of one snapshot. Not thread-safe.</summary>
internal abstract class ResultSource : IDisposable
{
    /// <summary>Matches before paging.</summary>
    public abstract long TotalCount { get; }

    /// <summary>The document it stands on.</summary>
    public abstract Document Current { get; }

    /// <summary>Score of the document it stands on; null where nothing is scored.</summary>
    public virtual float? Score => null;

    /// <summary>Goes to the next; false after the last.</summary>
    public abstract bool MoveNext();

    public abstract void Dispose();
}
