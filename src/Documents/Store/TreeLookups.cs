using System.Runtime.InteropServices;
using Treepie.Storage.Trees;

namespace Treepie.Store;

/// <summary>Look-ups by keys on the stack.</summary>
internal static class TreeLookups
{
    /// <summary>
    /// As <see cref="Tree.TryGet"/>, for a key that lives shorter than the value found: a value lies in its page and never in the key.
    /// </summary>
    public static bool Find(this Tree tree, scoped ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) =>
        tree.TryGet(MemoryMarshal.CreateReadOnlySpan(ref MemoryMarshal.GetReference(key), key.Length), out value);
}
