namespace Treepie.Store;

/// <summary>A document was written or deleted.</summary>
/// <param name="Id">Its id.</param>
/// <param name="Collection">Its collection.</param>
/// <param name="Etag">Number of the change, with which a feed goes on behind it.</param>
/// <param name="IsDeletion">Whether it was deleted.</param>
public sealed record DocumentChange(string Id, string Collection, long Etag, bool IsDeletion);
