namespace Treepie;

/// <summary>How far an operation is; see <see cref="OperationOptions.Progress"/>.</summary>
/// <param name="Processed">The number of documents it has come to.</param>
/// <param name="Changed">The number of documents it has changed or deleted durably.</param>
/// <param name="Total">
/// The number of documents that its query found; null if it is known only at the end, as with conditions that look at documents.
/// </param>
public readonly record struct QueryChangeProgress(long Processed, long Changed, long? Total);
