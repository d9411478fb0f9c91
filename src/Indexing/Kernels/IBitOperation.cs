using System.Runtime.Intrinsics;

namespace Treepie.Indexing.Kernels;

/// <summary>A bitwise operation, as a struct type argument so that every loop is compiled for the operation it runs.</summary>
internal interface IBitOperation
{
    static abstract ulong Apply(ulong left, ulong right);

    static abstract Vector256<ulong> Apply(Vector256<ulong> left, Vector256<ulong> right);
}

internal readonly struct AndOperation : IBitOperation
{
    public static ulong Apply(ulong left, ulong right) => left & right;

    public static Vector256<ulong> Apply(Vector256<ulong> left, Vector256<ulong> right) => left & right;
}

internal readonly struct OrOperation : IBitOperation
{
    public static ulong Apply(ulong left, ulong right) => left | right;

    public static Vector256<ulong> Apply(Vector256<ulong> left, Vector256<ulong> right) => left | right;
}

internal readonly struct AndNotOperation : IBitOperation
{
    public static ulong Apply(ulong left, ulong right) => left & ~right;

    public static Vector256<ulong> Apply(Vector256<ulong> left, Vector256<ulong> right) => Vector256.AndNot(left, right);
}
