namespace Treepie.Writes;

/// <summary>A patch of a document in a batch.</summary>
/// <param name="Patch">The script.</param>
/// <param name="Options">The options of the patch.</param>
/// <param name="Database">The options of the batch, with its limits.</param>
internal sealed record PatchCommand(Patch Patch, PatchOptions Options, DatabaseOptions Database);
