namespace Treepie.Indexing;

/// <summary>Working memory of a query that later queries can reuse.</summary>
internal interface IReusable
{
    /// <summary>Resets the object as if new, keeping no more memory than most queries need.</summary>
    void Clear();
}
