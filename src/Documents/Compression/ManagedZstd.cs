using ZstdSharp.Unsafe;

namespace Treepie.Compression;

/// <summary>zstd in managed code (the package ZstdSharp.Port), available on every system. Thread-safe.</summary>
internal sealed unsafe class ManagedZstd : ZstdLibrary
{
    internal override void Free(nint context, bool compresses) =>
        _ = compresses ? Methods.ZSTD_freeCCtx(Compressor(context)) : Methods.ZSTD_freeDCtx(Decompressor(context));

    private protected override nint NewCompressor() => (nint)Methods.ZSTD_createCCtx();

    private protected override nint NewDecompressor() => (nint)Methods.ZSTD_createDCtx();

    private protected override nuint SetCompressor(nint context, int parameter, int value) =>
        Methods.ZSTD_CCtx_setParameter(Compressor(context), (ZSTD_cParameter)parameter, value);

    private protected override nuint SetDecompressor(nint context, int parameter, int value) =>
        Methods.ZSTD_DCtx_setParameter(Decompressor(context), (ZSTD_dParameter)parameter, value);

    private protected override nuint Compress(nint context, ZstdBuffer* output, ZstdBuffer* input, int operation)
    {
        ZSTD_inBuffer_s from = Input(input);
        ZSTD_outBuffer_s to = Output(output);
        nuint left = Methods.ZSTD_compressStream2(Compressor(context), &to, &from, (ZSTD_EndDirective)operation);
        (input->Position, output->Position) = (from.pos, to.pos);
        return left;
    }

    private protected override nuint Decompress(nint context, ZstdBuffer* output, ZstdBuffer* input)
    {
        ZSTD_inBuffer_s from = Input(input);
        ZSTD_outBuffer_s to = Output(output);
        nuint wanted = Methods.ZSTD_decompressStream(Decompressor(context), &to, &from);
        (input->Position, output->Position) = (from.pos, to.pos);
        return wanted;
    }

    private protected override bool IsError(nuint result) => Methods.ZSTD_isError(result);

    private protected override string ErrorName(nuint result) => Methods.ZSTD_getErrorName(result);

    private static ZSTD_CCtx_s* Compressor(nint context) => (ZSTD_CCtx_s*)context;

    private static ZSTD_DCtx_s* Decompressor(nint context) => (ZSTD_DCtx_s*)context;

    private static ZSTD_inBuffer_s Input(ZstdBuffer* buffer) =>
        new() { src = buffer->Start, size = buffer->Length, pos = buffer->Position };

    private static ZSTD_outBuffer_s Output(ZstdBuffer* buffer) =>
        new() { dst = buffer->Start, size = buffer->Length, pos = buffer->Position };
}
