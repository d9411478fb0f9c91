namespace Treepie.Indexing;

/// <summary>An operation that can be stopped before it is complete.</summary>
internal interface IStoppable
{
    /// <summary>Throws if the operation was canceled or has used up its budget.</summary>
    void Check();
}
