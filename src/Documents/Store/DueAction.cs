namespace Treepie.Store;

/// <summary>
/// What is done with a document at a time that its metadata gives. The number is part of keys on disk and never changes.
/// </summary>
internal enum DueAction : byte
{
    Expire = 1,
    Refresh = 2,
    Archive = 3,
}
