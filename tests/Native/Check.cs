namespace Treepie.NativeProgram;

/// <summary>What the program says where something is not as it should be.</summary>
internal static class Check
{
    public static void Require(bool holds, string what)
    {
        if (!holds)
            throw new InvalidOperationException($"Not as it should be: {what}.");
    }
}
