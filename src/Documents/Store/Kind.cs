namespace Treepie.Store;

/// <summary>What lies beside the bodies of documents. The number is part of keys on disk and never changes.</summary>
internal enum Kind : byte
{
    CompareExchange = 1,
    Counter = 2,
    Attachment = 3,
}
