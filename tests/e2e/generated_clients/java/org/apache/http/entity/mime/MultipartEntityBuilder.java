package org.apache.http.entity.mime;

import java.io.File;
import org.apache.http.HttpEntity;

/** A stand-in: uploads compile, and no call of the story is one. */
public class MultipartEntityBuilder {
    public static MultipartEntityBuilder create() {
        return new MultipartEntityBuilder();
    }

    public MultipartEntityBuilder addBinaryBody(String name, File file) {
        throw new UnsupportedOperationException();
    }

    public MultipartEntityBuilder addTextBody(String name, String text) {
        throw new UnsupportedOperationException();
    }

    public HttpEntity build() {
        throw new UnsupportedOperationException();
    }
}
