namespace Treepie.Indexing;

/// <summary>What one query works with and the next may have after it.</summary>
internal interface IReusable
{
    /// <summary>Makes it as one that was just made, with no more memory than most queries need.</summary>
    void Clear();
}
