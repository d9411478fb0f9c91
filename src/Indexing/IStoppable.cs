namespace Treepie.Indexing;

/// <summary>Work that may have to stop before it is done.</summary>
internal interface IStoppable
{
    /// <summary>Ends it by an exception if it was cancelled or has spent its budget.</summary>
    void Check();
}
