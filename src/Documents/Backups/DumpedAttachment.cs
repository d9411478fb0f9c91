namespace Treepie.Backups;

/// <summary>An attachment as listed in the metadata of its document.</summary>
/// <param name="Name">The name.</param>
/// <param name="Hash">The hash of the content, as given by the program that wrote the dump.</param>
/// <param name="ContentType">The content type; empty if none.</param>
/// <param name="SizeBytes">The size of the content in bytes.</param>
internal sealed record DumpedAttachment(string Name, string Hash, string ContentType, long SizeBytes);
