using System.Text;
using Treepie.Storage;
using static Treepie.NativeProgram.Check;

namespace Treepie.NativeProgram;

/// <summary>The store alone.</summary>
internal static class StoreChecks
{
    public static void Run()
    {
        using var store = MemoryEnvironment.Open();
        store.Write(transaction => transaction.GetOrCreateTree("birds").Put("pica"u8, "magpie"u8));
        using var read = store.BeginRead();
        Require(
            read.FindTree("birds")!.TryGet("pica"u8, out ReadOnlySpan<byte> name) && Encoding.UTF8.GetString(name) == "magpie",
            "the store");
    }
}
