namespace Treepie.Backups;

/// <summary>An attachment as the metadata of its document lists it.</summary>
/// <param name="Name">Name.</param>
/// <param name="Hash">Hash of its content, as the program that wrote the dump gives it.</param>
/// <param name="ContentType">Type; empty for none.</param>
/// <param name="SizeBytes">Bytes of its content.</param>
internal sealed record DumpedAttachment(string Name, string Hash, string ContentType, long SizeBytes);
